// One small task in float32 under every layout of the demo model that two cores can run.
import type { AssayWorld } from '../../test/support/assay-world.ts';
import { cloneDir, readSetUp } from '../timed-command.ts';

export type Layout = Readonly<Record<string, number>>;

export const LAYOUTS = { dp2: { data: 2 }, tp3: { tensor: 3 }, pp2: { pipeline: 2 } } as const satisfies Record<string, Layout>;

/** How far a sum may be from one worker's. */
export const SUM_TOLERANCE = 1e-3;

/** The arguments of `assay` for a run into `name` of the world. */
export function prepareLayout(world: AssayWorld, name: string, plan: Layout): string[] {
  const config = world.writeConfig(`${name}.yaml`, {
    model: 'vllm', model_args: { pretrained: readSetUp().demoModel, dtype: 'float32', max_model_len: 512, max_num_seqs: 8, max_num_batched_tokens: 512 },
    tasks: ['assay_facts', 'assay_short'], include_path: `${cloneDir}/tasks`, limit: 4, plan,
  });
  return ['run', '--config', config, '--output_path', world.path(name)];
}

/** Its run directory. Throws, with what it said, where the run does not end well. */
export async function runLayout(world: AssayWorld, name: string, plan: Layout): Promise<string> {
  const { exitCode, stderr } = await world.run(prepareLayout(world, name, plan));
  if (exitCode !== 0) throw new Error(`${name}: exit ${exitCode}\n${stderr}`);
  return world.path(name);
}
