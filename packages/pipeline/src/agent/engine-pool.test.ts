import type { Plan } from '@assay/planner';
import type { Loaded } from '@assay/protocol';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import { EnginePool, type Replica } from './engine-pool.ts';

const PLAN = {} as Plan;
const died = () => new WorkerFailure({ kind: 'ended', role: 'engine', logFile: 'engine-0.log' });
const refused = () => new WorkerFailure({ kind: 'failed', role: 'engine', logFile: 'engine-0.log', failure: { class: 'kv_small', message: 'no room' } });

/** A pool of one replica whose loads go as `outcomes` say, then well. */
async function openPool(outcomes: (Error | undefined)[]) {
  let spawned = 0;
  const pool = new EnginePool({
    spawn: () => ({ name: `engine-0 #${spawned += 1}`, logFile: 'engine-0.log', stop: async () => undefined }) as unknown as WorkerHandle,
    load: async () => {
      const outcome = outcomes.shift();
      if (outcome) throw outcome;
      return {} as Loaded;
    },
    onRestart: () => undefined,
  });
  pool.start(1);
  const [replica] = pool.replicas as [Replica];
  await pool.load(PLAN);
  const restart = () => pool.restart({ replica, failed: replica.handle, plan: PLAN });
  const lease = () => pool.lease({ solo: false, signal: AbortSignal.timeout(1_000) });
  return { pool, replica, restart, lease, spawned: () => spawned };
}

test('a process that dies while it is loaded again is replaced again', async () => {
  const { restart, lease, spawned } = await openPool([undefined, died(), died()]);
  await restart();
  expect((await lease()).handle.name).toBe('engine-0 #4');
  expect(spawned()).toBe(4);
});

test('what a load says is final', async () => {
  const { restart, lease } = await openPool([undefined, refused()]);
  await restart();
  await expect(lease()).rejects.toThrow('no room');
});

test('a replica that dies again and again without a result is given up, one that has results in between is not', async () => {
  const patient = await openPool([]);
  for (let death = 0; death < 20; death += 1) {
    await patient.restart();
    patient.pool.noteProgress(patient.replica);
  }
  await expect(patient.lease()).resolves.toBeDefined();
  const { restart, lease, spawned } = await openPool([undefined, ...Array.from({ length: 10 }, died)]);
  await restart();
  await expect(lease()).rejects.toMatchObject({ code: 'WORKER_CRASHED' });
  expect(spawned()).toBe(7);
});

test('several shards of one process restart it once', async () => {
  const { pool, replica, spawned } = await openPool([]);
  const failed = replica.handle;
  await Promise.all([1, 2, 3].map(() => pool.restart({ replica, failed, plan: PLAN })));
  expect(spawned()).toBe(2);
});
