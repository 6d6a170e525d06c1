import type { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { Failure } from '@assay/protocol';
import type { EventLog } from '@assay/store';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import type { Agent } from './agent.ts';
import type { EnginePool } from './engine-pool.ts';
import { buildIndex, buildPlan } from './plan-fixture.ts';
import { recoverFromFailure, type RecoveryInput } from './recovery.ts';
import type { Lease, Replica } from './replica.ts';
import { ShardLedger, type LedgerShard } from './shard-ledger.ts';

type ExitInfo = NonNullable<WorkerFailure['exit']>;
/** What a replacement does where its load fails. */
type StepDown = (failure: Failure) => Promise<Plan | undefined>;
const REQUESTS = 8;

function setUp({ mayStepDown = true } = {}) {
  const index = buildIndex(REQUESTS, { contextTokens: 3_990, continuationTokens: 10 });
  const plan = buildPlan(index);
  const order = Uint32Array.from({ length: REQUESTS }, (_, row) => row);
  const cut = [0, 1, 2].map((number) => ({ id: `s000${number}`, begin: 2 * number, end: 2 * number + 2, requests: 2, tokens: 0, cost: 0 }));
  const shards = new ShardLedger({ shards: cut, order, isFinal: () => false, isAtomic: false, logMove: () => undefined });
  const restarts: Plan[] = [];
  const loads: StepDown[] = [];
  const rungs: string[] = [];
  const causes: string[] = [];
  const queued: string[] = [];
  const tried = [plan];
  const input: RecoveryInput = {
    epoch: 1, index, shards, tried, mayStepDown, downfalls: new Map(),
    events: { history: { rungs }, append: async ({ type }: { type: string }) => { rungs.push(type); } } as unknown as EventLog,
    pool: { restart: async ({ plan: next, stepDown }: { plan: Plan; stepDown: StepDown }) => { restarts.push(next); loads.push(stepDown); } } as unknown as EnginePool,
    agent: () => ({ enqueue: async (added: LedgerShard[], { first = false } = {}) => { queued.push(...added.map(({ id }) => (first ? `${id} first` : id))); } }) as unknown as Agent,
    onRung: async (_, cause) => { causes.push(cause); },
  };
  const fail = (number: number, on: { replica: Replica; handle: WorkerHandle }, failure?: Failure | ExitInfo) => {
    const shard = shards.shards.get(`s000${number}`) as LedgerShard;
    shards.move(shard, 'leased');
    shards.move(shard, 'running');
    const how = { role: 'engine', worker: 'engine-0', logFile: 'engine-0.log' };
    const failed = failure && 'class' in failure ? new WorkerFailure({ ...how, kind: 'failed', failure }) : new WorkerFailure({ ...how, kind: 'ended', ...(failure ? { exit: failure } : {}) });
    return recoverFromFailure(input, { shard, lease: on as Lease, failure: failed });
  };
  const replicaOf = (under: Plan) => {
    const handle = {} as WorkerHandle;
    return { replica: { handle, plan: under } as Replica, handle };
  };
  return { plan, tried, restarts, loads, rungs, causes, queued, shards, fail, replicaOf };
}

const OOM: Failure = { class: 'oom', message: 'can\'t allocate memory', where: 'logits' };

test('out of memory takes one rung for a process, however many of its shards it fails', async () => {
  const { plan, tried, restarts, rungs, queued, fail, replicaOf } = setUp();
  const on = replicaOf(plan);
  // The second shard had not reached the engine: to it the process has merely ended.
  await Promise.all([fail(0, on, OOM), fail(1, on)]);
  expect(rungs).toEqual(['rung_taken']);
  expect(tried).toHaveLength(2);
  expect(new Set(restarts)).toEqual(new Set([tried[1]]));
  expect(queued).toEqual(['s0000 first', 's0001 first']);
});

test('what ran out of memory is queued again before all else, the longest first, whichever failed first', async () => {
  const { plan, queued, fail, replicaOf } = setUp();
  const on = replicaOf(plan);
  await Promise.all([fail(1, on, OOM), fail(0, on)]);
  expect(queued).toEqual(['s0000 first', 's0001 first']);
});

test('a shard whose engine ended otherwise is tried again behind the others', async () => {
  const { plan, queued, fail, replicaOf } = setUp();
  await fail(0, replicaOf(plan));
  expect(queued).toEqual(['s0000']);
});

test('shards of a process that ran out of memory have no crash on their account', async () => {
  const { plan, shards, fail, replicaOf } = setUp();
  const on = replicaOf(plan);
  await Promise.all([fail(0, on, OOM), fail(1, on)]);
  expect([...shards.shards.values()].map(({ crashes, state }) => ({ crashes, state }))).toEqual(Array.from({ length: 3 }, () => ({ crashes: 0, state: 'pending' })));
});

test('a replica that fails under a plan that others have left takes theirs', async () => {
  const { plan, tried, restarts, fail, replicaOf } = setUp();
  await fail(0, replicaOf(plan), OOM);
  await fail(1, replicaOf(plan), OOM);
  expect(tried).toHaveLength(2);
  expect(restarts).toEqual([tried[1], tried[1]]);
});

test('an engine that the kernel ended for want of memory takes a rung, one that somebody killed takes none', async () => {
  const exit = { code: null, signal: 'SIGKILL', how: 'SIGKILL by the kernel', firstError: '', tail: [], logFile: '' } as const;
  const ended = setUp();
  await ended.fail(0, ended.replicaOf(ended.plan), { ...exit, tail: [], exhausted: { what: 'the machine has none left' } });
  expect(ended.rungs).toEqual(['rung_taken']);
  const killed = setUp();
  await killed.fail(0, killed.replicaOf(killed.plan), { ...exit, tail: [] });
  expect({ rungs: killed.rungs, restarts: killed.restarts }).toEqual({ rungs: [], restarts: [killed.plan] });
});

test('a load that fails in mid-run for want of cache steps down as one that ran out of memory does', async () => {
  const { plan, tried, loads, causes, fail, replicaOf } = setUp();
  await fail(0, replicaOf(plan));
  const [stepDown] = loads;
  await expect(stepDown?.({ class: 'arch', message: 'unknown' })).resolves.toBeUndefined();
  await expect(stepDown?.({ class: 'kv_small', message: 'no room for one request' })).resolves.toBe(tried[1]);
  expect(tried).toHaveLength(2);
  expect(causes).toEqual([expect.stringMatching(/^an engine that was started again has too little room for its KV cache \(.*no room for one request\)$/)]);
});

test('an engine that merely ended is started again under the same plan', async () => {
  const { plan, tried, restarts, rungs, shards, fail, replicaOf } = setUp();
  await fail(0, replicaOf(plan));
  expect({ restarts, rungs, tried }).toEqual({ restarts: [plan], rungs: [], tried: [plan] });
  expect(shards.shards.get('s0000')).toMatchObject({ crashes: 1, attempt: 2, solo: true });
});

test('however many rungs a shard takes, none of them counts as a failure of it: with none left it is cut in two', async () => {
  const { plan, tried, queued, causes, shards, fail, replicaOf } = setUp();
  const shard = shards.shards.get('s0000') as LedgerShard;
  while (shard.state === 'pending') await fail(0, replicaOf(tried.at(-1) as Plan), OOM);
  expect(tried[0]).toBe(plan);
  expect(tried.length).toBeGreaterThan(3);
  expect(causes).toEqual(Array.from({ length: tried.length - 1 }, () => "out of memory in mid-run (can't allocate memory)"));
  expect(queued).toEqual([...tried.slice(1).map(() => 's0000 first'), 's0000.0 first', 's0000.1 first']);
  // Each attempt has a file of its own.
  expect(shard.attempt).toBe(tried.length + 1);
});

test('strict, which takes no rung, ends at the first lack of memory and says what to do', async () => {
  const { plan, tried, restarts, queued, fail, replicaOf } = setUp({ mayStepDown: false });
  const on = { ...replicaOf(plan), handle: { name: 'engine-0', logFile: 'engine-0.log' } as WorkerHandle };
  on.replica.handle = on.handle;
  const error = await fail(0, on, OOM).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'PROBE_OOM', message: expect.stringContaining("shard s0000 ran out of memory in mid-run, where strict takes no smaller plan (engine-0: can't allocate memory)") });
  expect((error as AssayError).remedy).toMatch(/^Give another --output_path, and run with max_num_batched_tokens=\d+,max_num_seqs=\d+ in model_args or with determinism: fast\. The log is engine-0\.log\.$/);
  expect({ restarts, queued, tried }).toEqual({ restarts: [], queued: [], tried: [plan] });
});
