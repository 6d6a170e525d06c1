// The processes of one run: Redis, the harness worker, the engine workers. Started as early as they can be, stopped together: also
// when one of them cannot be started.
import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { ShardQueue } from '@assay/queue';
import { makeSocketFolder } from '@assay/store';
import { EnginePool } from './agent/engine-pool.ts';
import type { Prepared } from './prepare-run.ts';
import { EnginePorts } from './processes/engine-ports.ts';
import { engineArguments, layOutEarly, loadEngine, spawnEngine } from './processes/engine-replicas.ts';
import { startHarness } from './processes/harness-process.ts';
import type { HarnessWorker } from './processes/harness-worker.ts';
import { openMemoryLimit } from './processes/memory-limit.ts';
import { startQueue } from './processes/queue-server.ts';
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
  const ports = new EnginePorts(context.home, prepared.env);
  const limit = openMemoryLimit(context);
  const sockets = await makeSocketFolder(context.home);
  const spawn = (number: number) => spawnEngine(prepared, { number, layout, limit, onResults: (message) => wired.dispatcher?.handleResults(message) });
  const pool = new EnginePool({
    spawn,
    load: (replica, plan) => loadEngine(prepared, { replica, plan, ports, limit, socketDir: sockets.dir }),
    onRestart: ({ handle }, why) => {
      context.metrics.add('assay_worker_restarts_total', 1, { role: 'engine' });
      showWarning(context, `${handle.name} ${why} and is started again`);
    },
  });
  let harness: HarnessWorker | undefined;
  const stopWorkers = async (graceMs: number) => {
    await Promise.all([harness?.handle.stop({ graceMs }), pool.stop(graceMs)]);
    ports.release();
    limit.close();
  };
  const startAll = async () => {
    harness = startHarness(prepared);
    // Only as many as there are cores: how many of those asked for have a request is not known yet.
    pool.start(Math.min(layout?.data ?? 0, prepared.node.cpus.length));
    return { harness, ...await startQueue(prepared, { embeddedServer: environment.redisServer, socketDir: sockets.dir, onRecovered: () => wired.dispatcher?.requeue() }) };
  };
  const { redis, queue, ...workers } = await startAll().catch(async (thrown: unknown) => {
    await stopWorkers(0);
    sockets.remove();
    throw thrown;
  });
  return {
    ...workers, pool, queue,
    untilEnd: (work) => raceEnd(context, work),
    layOut: async (plan, { afresh }) => {
      // What a process has from its start stays as it is: its cores and threads.
      const isUsable = !afresh && layout?.threadsPerWorker === plan.threadsPerWorker;
      layout = plan;
      if (!afresh && pool.replicas.length === plan.data) return;
      // More were started early than there are requests, or fewer than were asked for: those of this plan are as they should be.
      await pool.stopAll({ kept: isUsable ? plan.data : 0 });
      pool.start(plan.data);
    },
    connect: (dispatcher) => { wired.dispatcher = dispatcher; },
    askedArguments: (plan) => engineArguments(prepared, plan),
    releaseEngines: () => pool.stop(STOP_GRACE_MS),
    stop: async () => {
      await stopWorkers(context.stop.aborted ? 0 : STOP_GRACE_MS);
      await queue.clear().catch(() => undefined);
      await queue.close();
      await redis.close();
      sockets.remove();
    },
  };
}

export function raceEnd<Value>({ drain, stop }: Pick<RunContext, 'drain' | 'stop'>, work: Promise<Value>): Promise<Value> {
  const ending = AbortSignal.any([drain, stop]);
  return new Promise((resolve, reject) => {
    const end = () => reject(ending.reason instanceof Error ? ending.reason : new AssayError('INTERRUPTED', { instead: 'Nothing was kept; start it again.' }));
    if (ending.aborted) end();
    ending.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => ending.removeEventListener('abort', end));
  });
}
