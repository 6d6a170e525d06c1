// Runs on the simulated engine: nothing is computed, so that what surrounds an engine can be tested in seconds, faults included.
import { type AssayWorld, demoModel } from './assay-world.ts';
import { cloneDir } from './requirements.ts';

/** See apps/worker/assay_worker/engines/faults.py. */
export interface Fault {
  at: 'load' | 'add' | 'row';
  row?: number;
  do: 'exit' | 'kill' | 'hang' | 'sleep' | 'spawn' | 'print' | 'stderr' | 'raise' | 'oom' | 'touch' | 'refuse' | 'swallow';
  /** A file that it makes when it strikes; while that is there it does not strike again. */
  marker?: string;
  [detail: string]: unknown;
}

interface Simulated {
  tasks?: string[];
  faults?: Fault[];
  /** Further arguments of the engine. */
  engine?: Record<string, unknown>;
  /** Further keys of the configuration. */
  settings?: Record<string, unknown>;
}

/** Writes the configuration and returns the run's directory and the command that starts or resumes it. */
export function prepareSimulated(world: AssayWorld, { tasks = ['assay_short'], faults = [], engine = {}, settings = {} }: Simulated = {}) {
  const dir = world.path('run');
  const config = world.writeConfig('run.yaml', {
    model: 'simulated',
    model_args: { pretrained: demoModel, max_model_len: 4096, max_num_seqs: 8, ...(faults.length > 0 ? { faults } : {}), ...engine },
    tasks,
    include_path: `${cloneDir}/tasks`,
    ...settings,
  });
  return { dir, config, command: ['run', '--config', config, '--output_path', dir] };
}
