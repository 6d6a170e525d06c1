// Recovery, ledger and pool together: one request that fits under no plan, among others that do.
import type { Plan } from '@assay/planner';
import type { Loaded, Result } from '@assay/protocol';
import type { EventLog } from '@assay/store';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import type { Agent } from './agent.ts';
import { EnginePool } from './engine-pool.ts';
import { buildIndex, buildPlan } from './plan-fixture.ts';
import { recoverFromFailure, type RecoveryInput } from './recovery.ts';
import { type LedgerShard, ShardLedger } from './shard-ledger.ts';

const LONG_TOKENS = 8_000;

/** One shard on one replica, whose engine runs out of memory in whatever holds `long`. What was cut is run before all else. */
async function play(requests: number, long: number) {
  const index = buildIndex(requests, { contextTokens: 300, continuationTokens: 2 });
  index.columns.contextTokens[long] = LONG_TOKENS;
  const tried = [buildPlan(index)];
  const final = new Set<number>();
  const order = Uint32Array.from({ length: requests }, (_, row) => row);
  const shards = new ShardLedger({
    shards: [{ id: 's0000', begin: 0, end: requests, requests, tokens: 0, cost: 0 }], order, isAtomic: false, isFinal: (row) => final.has(row), logMove: () => undefined,
  });
  const pool = new EnginePool({
    spawn: (number) => ({ name: `engine-${number}`, logFile: '', stop: async () => undefined }) as unknown as WorkerHandle,
    load: async () => ({}) as Loaded, onRestart: () => undefined,
  });
  pool.start(1);
  await pool.load(tried[0] as Plan);
  const waiting = [...shards.shards.values()];
  const concluded: Result[] = [];
  const agent = {
    enqueue: async (added: LedgerShard[]) => { waiting.unshift(...added); },
    conclude: async (_: LedgerShard, _to: string, results: Result[]) => { concluded.push(...results); },
  } as unknown as Agent;
  const events = { history: { rungs: [] }, append: async () => undefined } as unknown as EventLog;
  const input: RecoveryInput = { epoch: 1, index, events, pool, shards, agent: () => agent, mayStepDown: true, tried, downfalls: new Map(), onRung: async () => undefined };
  const loads: string[] = [];
  for (let shard = waiting.shift(); shard; shard = waiting.shift()) {
    const lease = await pool.lease({ solo: shard.solo, signal: AbortSignal.timeout(1_000) });
    shards.move(shard, 'leased');
    shards.move(shard, 'running');
    lease.release();
    if (shards.rowsOf(shard).includes(long)) {
      loads.push(`${shard.id} under plan ${tried.length}`);
      const failure = new WorkerFailure({ kind: 'failed', role: 'engine', worker: 'engine-0', logFile: '', failure: { class: 'oom', message: 'cannot allocate', where: 'logits', allocationBytes: 800 } });
      await recoverFromFailure(input, { shard, lease, failure });
    } else {
      for (const row of shards.rowsOf(shard)) final.add(row);
      pool.noteProgress(lease.replica);
      shards.move(shard, 'done');
    }
  }
  return { final, concluded, loads };
}

test.each([[64, 0], [64, 17], [1_000, 0]])('of %i requests, number %i alone is rejected, and no plan meets the same load twice', async (requests, long) => {
  const { final, concluded, loads } = await play(requests, long);
  expect(concluded).toMatchObject([{ row: long, outcome: 'rejected', message: `oom: cannot allocate (prompt of ${LONG_TOKENS + 2} tokens, wanted 800 bytes)` }]);
  expect(final.size).toBe(requests - 1);
  expect(new Set(loads).size).toBe(loads.length);
});
