// Recovery, ledger and pool together: one request that fits under no plan, among others that do.
import { choosePlan, parseModelFacts, type Plan } from '@assay/planner';
import { INDEX_COLUMNS, type Loaded, type RequestIndex, type Result } from '@assay/protocol';
import type { EventLog } from '@assay/store';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import type { Agent } from './agent.ts';
import { EnginePool } from './engine-pool.ts';
import { recoverFromFailure, type RecoveryInput } from './recovery.ts';
import { type LedgerShard, ShardLedger } from './shard-ledger.ts';

const LONG_TOKENS = 8_000;

function buildIndex(requests: number, long: number): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(requests)])) as RequestIndex['columns'];
  columns.contextTokens.fill(300)[long] = LONG_TOKENS;
  columns.continuationTokens.fill(2);
  return { count: requests, tokenOffset: new BigUint64Array(requests), columns };
}

function buildPlan(index: RequestIndex): Plan {
  const config = {
    architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3,
    intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192,
  };
  const facts = parseModelFacts(config, [{ weight: { dtype: 'BF16', shape: [1_000_000], bytes: 2_000_000 } }]);
  return choosePlan({ plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', facts, index, maxModelLen: 8192, node: { cpus: [0, 1], memoryBytes: 2 ** 34, gpus: [] } });
}

/** One shard on one replica, whose engine runs out of memory in whatever holds `long`. What was cut is run before all else. */
async function play(requests: number, long: number) {
  const index = buildIndex(requests, long);
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
