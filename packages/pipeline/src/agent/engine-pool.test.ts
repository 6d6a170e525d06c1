import type { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { Failure, Loaded } from '@assay/protocol';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import { EnginePool } from './engine-pool.ts';
import type { Replica } from './replica.ts';

const PLAN = { data: 1, deviceSets: [] as string[][], cpuSets: [] as number[][] } as Plan;
const died = () => new WorkerFailure({ kind: 'ended', role: 'engine', worker: 'engine-0', logFile: 'engine-0.log' });
const say = (failure: Failure, worker = 'engine-0') => new WorkerFailure({ kind: 'failed', role: 'engine', worker, logFile: `${worker}.log`, failure });
const refused = () => say({ class: 'kv_small', message: 'no room' });
const taken = () => say({ class: 'port', message: 'address already in use' });

/** A pool of one replica whose loads go as `outcomes` say, then well. */
async function openPool(outcomes: (Error | undefined)[], plan = PLAN) {
  let spawned = 0;
  const restarts: string[] = [];
  const pool = new EnginePool({
    spawn: () => ({ name: `engine-0 #${spawned += 1}`, logFile: 'engine-0.log', stop: async () => undefined }) as unknown as WorkerHandle,
    load: async () => {
      const outcome = outcomes.shift();
      if (outcome) throw outcome;
      return {} as Loaded;
    },
    onRestart: (_, why) => { restarts.push(why); },
  });
  pool.start(1);
  const [replica] = pool.replicas as [Replica];
  await pool.load(plan);
  const restart = () => pool.restart({ replica, failed: replica.handle, plan });
  const lease = () => pool.lease({ solo: false, signal: AbortSignal.timeout(1_000) });
  return { pool, replica, restart, restarts, lease, spawned: () => spawned };
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

test('a replica that cannot be loaded again in mid-run is named, with its devices and its own log', async () => {
  const { restart, lease } = await openPool([undefined, refused()], { data: 1, deviceSets: [['GPU-a', 'GPU-b']] } as unknown as Plan);
  await restart();
  const error = (await lease().catch((thrown: unknown) => thrown)) as AssayError;
  expect(error).toMatchObject({ code: 'ENGINE_LOAD', message: 'engine-0 #2 on GPU-a, GPU-b cannot load the model (kv_small): no room' });
  expect(error.remedy).toMatch(/\. The log is engine-0\.log\.$/);
});

test('a port that somebody took is no end: a fresh process loads the same plan, at the first load and at a later one', async () => {
  const { restart, lease, spawned, restarts } = await openPool([taken(), taken(), undefined, taken()]);
  expect(spawned()).toBe(3);
  await restart();
  expect((await lease()).handle.name).toBe('engine-0 #5');
  expect(restarts).toEqual([...Array.from({ length: 2 }, () => 'could not load (address already in use)'), 'ended', 'could not load (address already in use)']);
});

test('ports that are taken again and again end the load with the reason', async () => {
  await expect(openPool(Array.from({ length: 10 }, taken))).rejects.toMatchObject({ code: 'WORKER_CRASHED', message: expect.stringContaining('address already in use') });
});

test('a replica that waits for another start is not started once another one\'s failure has ended them all', async () => {
  const spawned: number[] = [];
  const stopping = Promise.withResolvers<void>();
  const pool = new EnginePool({
    spawn: (number) => {
      spawned.push(number);
      return { name: `engine-${number}`, logFile: '', stop: () => stopping.promise } as unknown as WorkerHandle;
    },
    load: async ({ number }) => { throw number === 0 ? taken() : say({ class: 'oom', message: 'no memory' }, 'engine-1'); },
    onRestart: () => undefined,
  });
  pool.start(2);
  await expect(pool.load(PLAN)).rejects.toMatchObject({ worker: 'engine-1' });
  const stopped = pool.stopAll();
  stopping.resolve();
  await stopped;
  expect(spawned).toEqual([0, 1]);
});

test('a load that another plan helps goes on under that, as often as there is one', async () => {
  const { pool, replica, lease, spawned } = await openPool([undefined, refused(), refused()]);
  const smaller = [{ data: 2 }, { data: 1 }] as Plan[];
  const asked: string[] = [];
  const stepDown = async ({ message }: { message: string }) => { asked.push(message); return smaller.shift(); };
  await pool.restart({ replica, failed: replica.handle, plan: PLAN, stepDown });
  await expect(lease()).resolves.toMatchObject({ replica: { plan: { data: 1 } } });
  expect([asked, spawned()]).toEqual([['no room', 'no room'], 4]);
});

test('an engine that the kernel ended for want of memory is not loaded again under the same plan', async () => {
  const exit = { code: null, signal: 'SIGKILL', how: 'SIGKILL by the kernel', firstError: '', tail: [], logFile: '', exhausted: { what: 'the machine has none left' } } as const;
  const killed = new WorkerFailure({ kind: 'ended', role: 'engine', worker: 'engine-0', logFile: 'engine-0.log', exit: { ...exit, tail: [] } });
  const { restart, lease, spawned } = await openPool([undefined, killed]);
  await restart();
  await expect(lease()).rejects.toMatchObject({ code: 'ENGINE_LOAD', details: { class: 'oom' } });
  expect(spawned()).toBe(2);
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

test('restarts under another plan begin to count anew', async () => {
  const { pool, replica, lease } = await openPool([]);
  for (let rung = 0; rung < 20; rung += 1) await pool.restart({ replica, failed: replica.handle, plan: {} as Plan });
  await expect(lease()).resolves.toBeDefined();
});

test('each cut of the shard that a replica died under allows it one more death', async () => {
  const { pool, replica, lease, spawned } = await openPool([]);
  for (let cuts = 0; cuts < 9; cuts += 1) await pool.restart({ replica, failed: replica.handle, plan: PLAN, cuts });
  await expect(lease()).resolves.toBeDefined();
  for (let death = 0; death < 20; death += 1) await pool.restart({ replica, failed: replica.handle, plan: PLAN, cuts: 8 });
  await expect(lease()).rejects.toMatchObject({ code: 'WORKER_CRASHED', message: expect.stringContaining('15 times in a row') });
  expect(spawned()).toBe(15);
});

test('every replica is probed at the same time: none answers before all were asked', async () => {
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();
  const pool = new EnginePool({
    spawn: (number) => ({
      name: `engine-${number}`, logFile: '',
      request: async ({ type }: { type: string }) => {
        asked.push(`engine-${number} ${type}`);
        if (asked.length === 2) all.resolve();
        await all.promise;
        return { verdict: 'fits', peakBytes: number };
      },
    }) as unknown as WorkerHandle,
    load: async () => ({}) as Loaded,
    onRestart: () => undefined,
  });
  pool.start(2);
  await pool.load(PLAN);
  await expect(pool.probe([])).resolves.toMatchObject([{ peakBytes: 0 }, { peakBytes: 1 }]);
  expect(asked).toEqual(['engine-0 probe', 'engine-1 probe']);
});

test('several shards of one process restart it once', async () => {
  const { pool, replica, spawned } = await openPool([]);
  const failed = replica.handle;
  await Promise.all([1, 2, 3].map(() => pool.restart({ replica, failed, plan: PLAN })));
  expect(spawned()).toBe(2);
});
