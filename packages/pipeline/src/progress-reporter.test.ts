// What a request phase teaches: the speed of the engines it began with, and each answer once.
import { REQUEST_KINDS } from '@assay/domain';
import type { MeasuredRun, Plan } from '@assay/planner';
import { INDEX_COLUMNS, type RequestIndex, type Result } from '@assay/protocol';
import { ResultLedger } from '@assay/store';
import { Metrics } from '@assay/telemetry';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ShardLedger } from './agent/shard-ledger.ts';
import { AnswerHistory } from './experience/answer-history.ts';
import { ProgressReporter } from './progress-reporter.ts';

type Context = ConstructorParameters<typeof ProgressReporter>[0];
type Parts = ConstructorParameters<typeof ProgressReporter>[1];

const COUNT = 12;
const PLAN = {
  device: 'cpu', maxNumBatchedTokens: 2048, workload: {},
  facts: { parameters: 135_000_000, vocab: 49_152, hidden: 576, isTied: true, layers: 30, heads: 9, headDim: 64 },
} as unknown as Plan;

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

function buildIndex(): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(COUNT)])) as RequestIndex['columns'];
  columns.kind.fill(REQUEST_KINDS.indexOf('generate_until'));
  columns.contextTokens.fill(100);
  columns.newTokenBudget.fill(50);
  return { count: COUNT, tokenOffset: new BigUint64Array(COUNT), columns };
}

const rendered = { tasks: [{ task: 'sums' }], chatTemplateDigest: null } as unknown as ConstructorParameters<typeof AnswerHistory>[0];

function openReporter() {
  const index = buildIndex();
  const results = new ResultLedger(index);
  const order = Uint32Array.from({ length: COUNT }, (_, row) => row);
  const speeds: MeasuredRun[] = [];
  const answers = new AnswerHistory(rendered, []);
  const replica = () => ({ number: 0, handle: { name: 'engine-0', state: 'busy', startSeconds: 2 }, plan: PLAN, loaded: { seconds: 3 }, isDown: false });
  const pool = { replicas: [replica()], readyCount: () => pool.replicas.filter(({ isDown }) => !isDown).length };
  const shown: { remaining: { seconds: number | null } }[] = [];
  const context = {
    epoch: 1, metrics: new Metrics({ version: '0', commit: null }), ui: { onProgress: (progress: (typeof shown)[number]) => shown.push(progress) }, events: { append: async () => undefined },
    experience: { recallRates: () => undefined, noteAnswers: () => undefined, noteSpeed: (_: Plan, measured: MeasuredRun) => speeds.push(measured) },
  } as unknown as Context;
  const shards = new ShardLedger({ shards: [], order, isAtomic: false, isFinal: (row) => results.isFinal(row), logMove: () => undefined });
  const reporter = new ProgressReporter(context, { index, results, shards, pool, order, plan: PLAN, answers, oldestLeaseAtMs: () => undefined } as unknown as Parts);
  /** As an attempt's results become durable. */
  const storeRow = (row: number, attempt = 1, newTokens = 20) => {
    const result = { row, task: 0, outcome: 'ok', newTokens, cachedTokens: 0 } as Result;
    results.add({ epoch: 1, shard: '0', attempt, offset: row, length: 1, result });
    reporter.note([result], Date.now());
  };
  const store = (attempt: number, newTokens: number) => {
    for (let row = 0; row < COUNT; row += 1) storeRow(row, attempt, newTokens);
  };
  return { reporter, pool, replica, store, storeRow, shown, speeds, answers };
}

async function runPhase(happen: (pool: ReturnType<typeof openReporter>) => void = () => undefined) {
  const run = openReporter();
  run.reporter.start();
  await vi.advanceTimersByTimeAsync(10_000);
  happen(run);
  run.store(1, 20);
  await vi.advanceTimersByTimeAsync(1_000);
  await run.reporter.stop();
  return run.speeds;
}

test('a phase that ends with the engines it began with teaches their speed', async () => {
  expect(await runPhase()).toMatchObject([{ phaseSeconds: 10, startSeconds: 2, loadSeconds: 3, done: { requests: COUNT } }]);
});

test.each<[string, (run: ReturnType<typeof openReporter>) => void]>([
  ['was started again', ({ pool, replica }) => { pool.replicas = [replica()]; }],
  ['took a smaller plan', ({ pool }) => { pool.replicas[0]!.plan = { ...PLAN }; }],
  ['was lost', ({ pool }) => { pool.replicas[0]!.isDown = true; }],
])('a phase in which an engine %s teaches no speed: its loading is no work', async (_, happen) => {
  expect(await runPhase(happen)).toEqual([]);
});

test('a request that is answered twice is one answer, and the first that came counts', async () => {
  const { store, answers } = openReporter();
  store(1, 20);
  store(2, 40);
  expect(answers.summarize(() => COUNT)).toMatchObject([{ answers: COUNT, meanTokens: 20 }]);
});

test('while no worker is ready the time left is unknown, and known again with the next one that is: the time without counts for no speed', async () => {
  const { reporter, pool, replica, storeRow, shown } = openReporter();
  reporter.start();
  for (let row = 0; row < COUNT / 2; row += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    storeRow(row);
  }
  await vi.advanceTimersByTimeAsync(1_000);
  const before = shown.at(-1)?.remaining.seconds;
  expect(before).toBeGreaterThan(0);
  pool.replicas[0]!.isDown = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(shown.at(-1)?.remaining.seconds).toBeNull();
  pool.replicas = [replica()];
  storeRow(COUNT / 2);
  await vi.advanceTimersByTimeAsync(1_000);
  const after = shown.at(-1)?.remaining.seconds;
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThan(before!);
  await reporter.stop();
});
