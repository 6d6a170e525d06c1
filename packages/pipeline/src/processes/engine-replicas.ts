// The engine workers of a run: where each replica lies, how its process is started, and how it loads a plan.
import { engineArgsOf, engineEnvOf, layOutCores, type Plan, readPlanWishes } from '@assay/planner';
import type { Loaded, ResultsMessage } from '@assay/protocol';
import { workerLogFile } from '@assay/store';
import { spawnWorker, watchProgress, type WorkerHandle } from '@assay/workers';
import type { Replica } from '../agent/replica.ts';
import type { Prepared } from '../prepare-run.ts';
import { showWarning } from '../run-context.ts';
import { processEnvOf } from './engine-environment.ts';
import type { EnginePorts } from './engine-ports.ts';
import type { MemoryLimit } from './memory-limit.ts';
import { WORKER_PATH } from './worker-path.ts';
import { noteMove, noteStart } from './worker-record.ts';

type EarlyLayout = Pick<Plan, 'data' | 'threadsPerWorker' | 'cpuSets'>;

/** On CPU the layout depends on no request, so the engines can import while the requests are rendered. */
export function layOutEarly({ context: { config, determinism }, node, facts }: Prepared): EarlyLayout | undefined {
  if (node.gpus.length > 0) return undefined;
  const wishes = readPlanWishes({ plan: config.plan, modelArgs: config.model_args, maxBatchSize: config.max_batch_size, determinism });
  return layOutCores({ node, facts, wishes, determinism });
}

interface EngineSpawn {
  number: number;
  layout: EarlyLayout | undefined;
  limit: MemoryLimit;
  onResults(message: ResultsMessage): void;
}

export function spawnEngine(prepared: Prepared, { number, layout, limit, onResults }: EngineSpawn): WorkerHandle {
  const { context, node, env } = prepared;
  const { config, home, log, python, run } = context;
  const name = `engine-${number}`;
  const cpus = layout?.cpuSets[number];
  const memoryGroup = limit.makeGroup(name);
  const handle: WorkerHandle = spawnWorker({
    role: 'engine', name, python, pythonPath: WORKER_PATH, logFile: workerLogFile(run.dir, name), log,
    env: processEnvOf({ home, engine: config.model, node, layout, env }),
    ...(cpus ? { cpus } : {}),
    ...(memoryGroup ? { memoryGroup } : {}),
    onEvent: (event) => { if (event.type === 'results') onResults(event); },
    onState: (move) => noteMove(prepared, handle, move),
  });
  noteStart(prepared, handle);
  watchProgress(handle, { stallTimeoutMs: config.stall_timeout * 1000, onStalled: (reason) => showWarning(context, `${name}: ${reason}`) });
  return handle;
}

interface EngineLoad {
  replica: Replica;
  plan: Plan;
  ports: EnginePorts;
  limit: MemoryLimit;
  /** Where ranks that are processes of their own meet, which vLLM would do in the system's temporary folder, and leave there when killed. */
  socketDir: string;
}

export async function loadEngine(prepared: Prepared, { replica: { number, handle }, plan, ports, limit: { addressSpaceBytes }, socketDir }: EngineLoad): Promise<Loaded> {
  const { config, determinism, run } = prepared.context;
  // Not before it can bind them: its imports take seconds.
  await handle.hello;
  return handle.request({
    type: 'load',
    engine: config.model === 'simulated' ? 'simulated' : 'vllm',
    requestsDir: run.paths.requestsDir,
    engineArgs: engineArguments(prepared, plan),
    env: { ...engineEnvOf(plan, number), VLLM_RPC_BASE_PATH: socketDir, ...(await ports.take(number)) },
    ...(addressSpaceBytes === undefined ? {} : { addressSpaceBytes }),
    scoring: 'exact',
    determinism,
    requestTimeoutSeconds: config.request_timeout,
    seed: config.seed.torch,
  });
}

export function engineArguments({ context: { config }, model, node }: Prepared, plan: Plan): Record<string, unknown> {
  return engineArgsOf(plan, config.model_args, { model: model.path ?? model.name, trustRemoteCode: config.trust_remote_code, deviceMemoryBytes: plan.device === 'cuda' ? Math.min(...node.gpus.map(({ memoryBytes }) => memoryBytes)) : undefined });
}
