// The processes of one run: Redis, the harness worker, the engine workers. Started as early as they can be, stopped together.
import { AssayError, toAssayError } from '@assay/domain';
import { engineArgsOf, engineEnvOf, layOutCores, type Plan, readPlanWishes } from '@assay/planner';
import type { Loaded } from '@assay/protocol';
import { createShardQueue, type RedisServer, resolveRedis, type ShardQueue } from '@assay/queue';
import { workerLogFile } from '@assay/store';
import { spawnServer, spawnWorker, watchProgress, type WorkerHandle, type WorkerMove } from '@assay/workers';
import { EnginePool, type Replica } from './agent/engine-pool.ts';
import { HarnessWorker, WORKER_PATH } from './harness-worker.ts';
import type { Prepared } from './prepare-run.ts';
import { type RunContext, showWarning } from './run-context.ts';
import type { Dispatcher } from './stages/dispatch.ts';

const STOP_GRACE_MS = 5_000;

export interface RunProcesses {
  harness: HarnessWorker;
  pool: EnginePool;
  queue: ShardQueue;
  /** Gives way to the run's end: rejects as soon as it is to drain or stop. */
  untilEnd<Value>(work: Promise<Value>): Promise<Value>;
  /** Starts the replicas of the plan where they are not there already, or `afresh`: an engine that ran out of memory cannot be trusted to go on. */
  layOut(plan: Plan, options: { afresh: boolean }): Promise<void>;
  /** Where the engines' results go. */
  connect(dispatcher: Dispatcher): void;
  askedArguments(plan: Plan): Record<string, unknown>;
  releaseEngines(): Promise<void>;
  stop(): Promise<void>;
}

export async function startProcesses(prepared: Prepared): Promise<RunProcesses> {
  const { context, environment } = prepared;
  const wired: { dispatcher?: Dispatcher } = {};
  let layout = layOutEarly(prepared);
  const spawn = (number: number) => spawnEngine(prepared, { number, layout, onResults: (message) => wired.dispatcher?.handleResults(message) });
  const pool = new EnginePool({
    spawn,
    load: (replica, plan) => loadEngine(prepared, replica, plan),
    onRestart: ({ handle }) => {
      context.metrics.add('assay_worker_restarts_total', 1, { role: 'engine' });
      showWarning(context, `${handle.name} ended and is started again`);
    },
  });
  const harness = startHarness(prepared);
  pool.start(layout?.data ?? 0);
  const { redis, queue } = await startQueue(prepared, { embeddedServer: environment.redisServer, onRecovered: () => wired.dispatcher?.requeue() })
    .catch(async (thrown: unknown) => {
      await Promise.all([harness.handle.stop({ graceMs: 0 }), pool.stop(0)]);
      throw thrown;
    });
  return {
    harness, pool, queue,
    untilEnd: (work) => raceEnd(context, work),
    layOut: async (plan, { afresh }) => {
      layout = plan;
      if (!afresh && pool.replicas.length === plan.data) return;
      await pool.stopAll();
      pool.start(plan.data);
    },
    connect: (dispatcher) => { wired.dispatcher = dispatcher; },
    askedArguments: (plan) => engineArguments(prepared, plan),
    releaseEngines: () => pool.stop(STOP_GRACE_MS),
    stop: async () => {
      const graceMs = context.stop.aborted ? 0 : STOP_GRACE_MS;
      await Promise.all([harness.handle.stop({ graceMs }), pool.stop(graceMs)]);
      await queue.clear().catch(() => undefined);
      await queue.close();
      await redis.close();
    },
  };
}

export function startHarness(prepared: Prepared): HarnessWorker {
  const { home, log, metrics, python, run } = prepared.context;
  const harness = new HarnessWorker({
    python, log, logFile: workerLogFile(run.dir, 'harness'), env: { ASSAY_HOME: home },
    onEvent: (event) => { if (event.type === 'heartbeat') metrics.set('assay_worker_peak_bytes', event.peakBytes, { role: 'harness' }); },
    onState: (move) => noteMove(prepared, harness.handle, move),
  });
  noteStart(prepared, harness.handle);
  return harness;
}

type EarlyLayout = Pick<Plan, 'data' | 'threadsPerWorker' | 'cpuSets'>;

/** On CPU the layout depends on no request, so the engines can import while the requests are rendered. */
function layOutEarly({ context: { config, determinism }, node, facts }: Prepared): EarlyLayout | undefined {
  if (node.gpus.length > 0) return undefined;
  const wishes = readPlanWishes({ plan: config.plan, modelArgs: config.model_args, maxBatchSize: config.max_batch_size, determinism });
  return layOutCores({ node, facts, wishes, determinism });
}

interface EngineSpawn {
  number: number;
  layout: EarlyLayout | undefined;
  onResults(message: Parameters<Dispatcher['handleResults']>[0]): void;
}

function spawnEngine(prepared: Prepared, { number, layout, onResults }: EngineSpawn): WorkerHandle {
  const { context } = prepared;
  const { config, home, log, python, run } = context;
  const name = `engine-${number}`;
  const cpus = layout?.cpuSets[number];
  const handle: WorkerHandle = spawnWorker({
    role: 'engine', name, python, pythonPath: WORKER_PATH, logFile: workerLogFile(run.dir, name), log,
    env: { ASSAY_HOME: home, ASSAY_ENGINE: config.model, ...(layout ? { OMP_NUM_THREADS: String(layout.threadsPerWorker) } : {}) },
    ...(cpus ? { cpus } : {}),
    onEvent: (event) => { if (event.type === 'results') onResults(event); },
    onState: (move) => noteMove(prepared, handle, move),
  });
  noteStart(prepared, handle);
  watchProgress(handle, { stallTimeoutMs: config.stall_timeout * 1000, onStalled: (reason) => showWarning(context, `${name}: ${reason}`) });
  return handle;
}

async function loadEngine(prepared: Prepared, { number, handle }: Replica, plan: Plan): Promise<Loaded> {
  const { config, determinism, run } = prepared.context;
  const { memory } = config.limits;
  return handle.request({
    type: 'load',
    engine: config.model === 'simulated' ? 'simulated' : 'vllm',
    requestsDir: run.paths.requestsDir,
    engineArgs: engineArguments(prepared, plan),
    env: engineEnvOf(plan, number),
    ...(memory === undefined ? {} : { addressSpaceBytes: memory }),
    scoring: 'exact',
    determinism,
    requestTimeoutSeconds: config.request_timeout,
    seed: config.seed.torch,
  });
}

function engineArguments({ context: { config }, model, node }: Prepared, plan: Plan): Record<string, unknown> {
  return engineArgsOf(plan, config.model_args, { model: model.path ?? model.name, trustRemoteCode: config.trust_remote_code, deviceMemoryBytes: plan.device === 'cuda' ? Math.min(...node.gpus.map(({ memoryBytes }) => memoryBytes)) : undefined });
}

async function startQueue(
  { context, env, halt }: Prepared,
  { embeddedServer, onRecovered }: { embeddedServer: string | undefined; onRecovered: () => void },
): Promise<{ redis: RedisServer; queue: ShardQueue }> {
  const { home, log, python, run } = context;
  const redis = await resolveRedis({
    env, home, embeddedServer, log, logFile: workerLogFile(run.dir, 'redis'),
    spawn: ({ command, logFile }) => spawnServer({ python, command, logFile }),
    onRestart: (how) => {
      showWarning(context, `Redis ended (${how}) and was started again; nothing is lost`);
      noteRedis(context, redis).catch((thrown: unknown) => halt(toAssayError(thrown)));
    },
    onLost: halt,
  });
  await noteRedis(context, redis);
  context.metrics.set('assay_queue_up', 1);
  const queue = await createShardQueue({
    runId: run.header.id, redis: redis.address, log,
    onTrouble: (error) => {
      context.metrics.set('assay_queue_up', 0);
      showWarning(context, `${error.message}; waiting`);
    },
    onRecovered: () => {
      context.metrics.set('assay_queue_up', 1);
      onRecovered();
    },
  }).catch(async (thrown: unknown) => {
    await redis.close();
    throw thrown;
  });
  return { redis, queue };
}

async function noteRedis({ events, epoch }: RunContext, redis: RedisServer): Promise<void> {
  const pid = redis.pid();
  if (pid !== undefined) await events.append({ type: 'worker_started', epoch, worker: 'redis', role: 'redis', pid });
}

function raceEnd<Value>({ drain, stop }: RunContext, work: Promise<Value>): Promise<Value> {
  const ending = AbortSignal.any([drain, stop]);
  return new Promise((resolve, reject) => {
    const end = () => reject(ending.reason instanceof Error ? ending.reason : new AssayError('INTERRUPTED', { instead: 'Nothing was kept; start it again.' }));
    if (ending.aborted) end();
    ending.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => ending.removeEventListener('abort', end));
  });
}

function noteStart({ census, context: { events, epoch }, halt }: Prepared, { name, role, pid }: WorkerHandle): void {
  census.noteStart(role);
  events.append({ type: 'worker_started', epoch, worker: name, role, pid }).catch((thrown: unknown) => halt(toAssayError(thrown)));
}

/** Moves go to the metrics; the end, with its reason, to the events. */
function noteMove({ census, context, halt }: Prepared, handle: WorkerHandle, move: WorkerMove): void {
  const { to, exit } = move;
  census.noteMove(handle.role, move);
  if (!exit) return;
  context.events.append({
    type: 'worker_ended', epoch: context.epoch, worker: handle.name, pid: handle.pid, exitCode: exit.code, signal: exit.signal,
    ...(handle.lastHeartbeat ? { peakBytes: handle.lastHeartbeat.peakBytes } : {}),
    ...(to === 'crashed' ? { problem: [exit.how, exit.firstError].filter(Boolean).join(': '), tail: exit.tail } : {}),
  }).catch((thrown: unknown) => halt(toAssayError(thrown)));
}
