import { mkdir, readFile } from 'node:fs/promises';
import { INDEX_COLUMNS, type RequestIndex, type Result, type ShardDone } from '@assay/protocol';
import { buildRunPaths, openEventLog, ResultLedger } from '@assay/store';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { beginAttempt } from './attempt.ts';
import type { LedgerShard } from './shard-ledger.ts';

const shard = { id: 's0000', begin: 0, end: 2 } as LedgerShard;
const said: Result[] = [0, 1].map((row) => ({ row, task: 0, ordinal: row, repeat: 0, window: 0, outcome: 'ok', text: 'x' }));
const buildDone = (attempt: number): ShardDone => ({
  type: 'shard_done', id: 1, shard: 's0000', epoch: 1, attempt, requests: 2, seconds: 4, firstStepAt: 1, promptTokens: 9, cachedTokens: 0, newTokens: 3, steps: 2, batch: { median: 1, max: 2 }, peakBytes: 5,
});

async function openStore() {
  const dir = makeTempDir();
  const paths = buildRunPaths(dir);
  await mkdir(paths.resultsDir);
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(2)])) as RequestIndex['columns'];
  columns.ordinal[1] = 1;
  const results = new ResultLedger({ count: 2, tokenOffset: new BigUint64Array(2), columns });
  const events = await openEventLog(paths.events);
  onTestFinished(() => events.close());
  await events.beginEpoch({ pid: process.pid, version: '0', commit: null, command: [] });
  const readTypes = async () => (await readFile(paths.events, 'utf8')).trimEnd().split('\n').map((line) => (JSON.parse(line) as { type: string }).type);
  return { store: { dir, epoch: 1, events, results, shards: { rowsOf: () => [0, 1] } }, results, readTypes };
}

test('results count as soon as they are durable, and their number is told', async () => {
  const { store, results, readTypes } = await openStore();
  const attempt = await beginAttempt(store, { shard, worker: 'engine-0', countsWhole: false });
  let told = 0;
  const durable = attempt.append(said, () => { told = results.finalCount; });
  await attempt.finish();
  await durable;
  expect(told).toBe(2);
  expect(await attempt.commit(buildDone(attempt.number))).toEqual([]);
  expect(attempt.report({ outcome: 'done' })).toMatchObject({ attempt: 1, worker: 'engine-0', results: 2 });
  expect((await readTypes()).slice(-2)).toEqual(['shard_started', 'shard_done']);
});

test('strict: nothing counts before the shard is whole, and then all of it does', async () => {
  const { store, results } = await openStore();
  const attempt = await beginAttempt(store, { shard, worker: 'engine-0', countsWhole: true });
  void attempt.append(said);
  await attempt.finish();
  expect(results.finalCount).toBe(0);
  expect(await attempt.commit(buildDone(attempt.number))).toHaveLength(2);
  expect(results.finalCount).toBe(2);
});

test('an attempt that is fenced says up to which byte its file counts', async () => {
  const { store, readTypes } = await openStore();
  const attempt = await beginAttempt(store, { shard, worker: 'engine-0', countsWhole: false });
  void attempt.append(said);
  await attempt.fence('the worker died');
  expect((await readTypes()).at(-1)).toBe('shard_fenced');
  expect(store.events.history.fences.size).toBe(1);
});
