import { mkdir } from 'node:fs/promises';
import type { Plan } from '@assay/planner';
import { INDEX_COLUMNS, type RequestIndex, type Result } from '@assay/protocol';
import type { ShardQueue } from '@assay/queue';
import { buildRunPaths, openEventLog, ResultLedger } from '@assay/store';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { Agent } from './agent.ts';
import type { AttemptReport } from './attempt.ts';
import type { EnginePool } from './engine-pool.ts';
import type { Replica } from './replica.ts';
import { ShardLedger } from './shard-ledger.ts';

const REQUESTS = 2;
const DONE = { requests: REQUESTS, seconds: 4, firstStepAt: 1, promptTokens: 9, cachedTokens: 0, newTokens: 3, steps: 2, batch: { median: 1, max: 2 }, peakBytes: 5 };

beforeEach(() => { vi.useFakeTimers({ toFake: ['Date'] }); });
afterEach(() => { vi.useRealTimers(); });

const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const buildResults = (): Result[] => [0, 1].map((row) => ({ row, task: 0, ordinal: row, repeat: 0, window: 0, outcome: 'ok', text: 'x' }));

/** An agent with one shard and one engine: free after 3 s, done with the shard after 5; storing what it said takes 1. */
async function openAgent(answer: (agent: Agent) => Promise<typeof DONE>) {
  const dir = makeTempDir();
  const paths = buildRunPaths(dir);
  await mkdir(paths.resultsDir);
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(REQUESTS)])) as RequestIndex['columns'];
  columns.ordinal[1] = 1;
  const results = new ResultLedger({ count: REQUESTS, tokenOffset: new BigUint64Array(REQUESTS), columns });
  const events = await openEventLog(paths.events);
  onTestFinished(() => events.close());
  await events.beginEpoch({ pid: process.pid, version: '0', commit: null, command: [] });
  events.subscribe(({ type }) => { if (type === 'shard_done') pass(1); });
  const reports: AttemptReport[] = [];
  const steps: string[] = [];
  const handle = {
    name: 'engine-0',
    send: () => undefined,
    request: async ({ shard, epoch, attempt }: { shard: string; epoch: number; attempt: number }) => {
      pass(5);
      return { type: 'shard_done', id: 1, shard, epoch, attempt, ...(await answer(agent)) };
    },
  } as unknown as WorkerHandle;
  const lease = async () => {
    pass(3);
    return { replica: { plan: {} as Plan } as Replica, handle, release: () => { steps.push('released'); } };
  };
  const order = Uint32Array.from([0, 1]);
  const agent: Agent = new Agent({
    dir, runId: 'r', epoch: 1, orderFile: 'requests/order-1.bin', events, queue: {} as ShardQueue, results, isAtomic: false, ending: new AbortController().signal,
    pool: { lease, noteProgress: () => undefined } as unknown as EnginePool,
    shards: new ShardLedger({
      shards: [{ id: 's0000', begin: 0, end: REQUESTS, requests: REQUESTS, tokens: 0, cost: 0 }], order, isAtomic: false, isFinal: (row) => results.isFinal(row), logMove: () => undefined,
    }),
    onResults: () => undefined, onShardStarted: () => undefined, onShardEnded: (report) => reports.push(report), recover: async () => {
      await Promise.resolve();
      steps.push('recovered');
    },
  });
  const run = (signal = new AbortController().signal) => agent.runShard({ runId: 'r', epoch: 1, shard: 's0000', attempt: 1, orderFile: '', begin: 0, end: REQUESTS }, signal);
  return { run, reports, results, steps };
}

const fail = (kind: WorkerFailure['kind']) => new WorkerFailure({ kind, role: 'engine', worker: 'engine-0', logFile: 'engine-0.log' });

test('an attempt that is done says how long it waited for an engine, was in it, and took to be stored', async () => {
  const { run, reports, results } = await openAgent(async (agent) => {
    agent.handleResults({ type: 'results', shard: 's0000', epoch: 1, attempt: 1, results: buildResults() });
    return DONE;
  });
  await run();
  expect(reports).toMatchObject([{ outcome: 'done', results: REQUESTS, seconds: { wait: 3, engine: 5, commit: 1 } }]);
  expect(results.finalCount).toBe(REQUESTS);
});

test('an attempt that failed says nothing of storing it', async () => {
  const { run, reports } = await openAgent(() => Promise.reject(fail('ended')));
  await run();
  expect(reports.map(({ outcome, seconds }) => ({ outcome, seconds }))).toEqual([{ outcome: 'failed', seconds: { wait: 3, engine: 5 } }]);
});

test('an engine that failed is leased to no other shard before it is replaced', async () => {
  const { run, steps } = await openAgent(() => Promise.reject(fail('ended')));
  await run();
  expect(steps).toEqual(['recovered', 'released']);
});

test('an attempt that was called back is withdrawn, whatever its engine says', async () => {
  const calling = new AbortController();
  const { run, reports } = await openAgent(() => {
    calling.abort();
    return Promise.reject(fail('ended'));
  });
  await run(calling.signal);
  expect(reports).toMatchObject([{ outcome: 'withdrawn' }]);
  expect(reports[0]?.failure).toBeUndefined();
});
