// What an engine's process has in its environment from its first instruction; what belongs to a plan comes with its load.
import { cpuProcessEnvOf, type NodeFacts, type Plan } from '@assay/planner';

interface EnvironmentInput {
  home: string;
  /** The kind of engine: it decides what the worker imports. */
  engine: string;
  node: Pick<NodeFacts, 'gpus'>;
  /** undefined while no plan is chosen. */
  layout: Pick<Plan, 'threadsPerWorker'> | undefined;
  /** The user's environment. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Threads and arenas are laid out on CPU only: a GPU's engine uses the host as vLLM would. */
export function processEnvOf({ home, engine, node, layout, env }: EnvironmentInput): Record<string, string> {
  return { ASSAY_HOME: home, ASSAY_ENGINE: engine, ...(layout && node.gpus.length === 0 ? cpuProcessEnvOf({ ...layout, tunables: env['GLIBC_TUNABLES'] }) : {}) };
}
