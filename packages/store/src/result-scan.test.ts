import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outcome } from '@assay/domain';
import { encodeLine } from '@assay/protocol';
import { describe, expect, it } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { ResultLedger } from './result-ledger.ts';
import { readResults, readTaskResults, scanResults } from './result-scan.ts';
import { emptyHistory } from './run-history.ts';
import { resultsFileName } from './run-paths.ts';
import { buildIndex, buildResult, makeRunFolders } from './testing/sample-run.ts';

const index = buildIndex(10);
const scan = (dir: string, changes: object = {}) => scanResults(dir, { index, history: emptyHistory(), ...changes });
const line = (row: number, outcome: Outcome = 'ok', text = `answer ${row}`) => encodeLine(buildResult(index, row, outcome, text));

async function makeRun(files: Record<string, string>): Promise<string> {
  const dir = makeTempDir();
  await makeRunFolders(dir);
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, 'results', `${name}.ndjson`), text);
  return dir;
}

describe('scanResults', () => {
  it('accepts the lowest epoch, attempt and line, and counts the rest', async () => {
    const dir = await makeRun({
      '2-s0000-1': line(0, 'ok', 'epoch 2') + line(1, 'ok', 'only'),
      '1-s0000-2': line(0, 'ok', 'attempt 2') + line(2, 'ok', 'attempt 2'),
      '1-s0000-1': line(0, 'ok', 'first') + line(0, 'ok', 'second line') + line(2, 'engine_error'),
    });
    const ledger = await scan(dir);
    expect((await readResults(dir, ledger, [0, 1, 2, 3])).map(({ text }) => text)).toEqual(['first', 'only', 'attempt 2']);
    expect(ledger).toMatchObject({ finalCount: 3, duplicates: 3, tornLines: 0 });
    expect(ledger.tries(2)).toBe(1);
    expect([...ledger.openRows()]).toEqual([3, 4, 5, 6, 7, 8, 9]);
  });

  it('accepts the same in whatever order results are added', async () => {
    const places = [{ epoch: 1, attempt: 1, offset: 50 }, { epoch: 1, attempt: 1, offset: 0 }, { epoch: 1, attempt: 2, offset: 0 }, { epoch: 2, attempt: 1, offset: 0 }];
    for (const order of [places, places.toReversed(), [places[2], places[0], places[3], places[1]].flatMap((place) => place ?? [])]) {
      const ledger = new ResultLedger(index);
      for (const place of order) ledger.add({ shard: 's0000', length: 9, ...place, result: { row: 5, outcome: 'ok' } });
      expect(ledger.placeOf(5)).toEqual({ file: { epoch: 1, shard: 's0000', attempt: 1 }, offset: 0, length: 9 });
      expect(ledger).toMatchObject({ finalCount: 1, duplicates: 3 });
    }
  });

  it('loses the torn line only, wherever in the last two lines a file ends', async () => {
    const whole = Buffer.from(line(0) + line(1) + line(2) + line(3));
    const two = whole.subarray(0, whole.length - 1 - Buffer.byteLength(line(3))).lastIndexOf(10) + 1;
    for (let length = two; length <= whole.length; length += 1) {
      const dir = await makeRun({});
      await writeFile(join(dir, 'results', '1-s0000-1.ndjson'), whole.subarray(0, length));
      const ledger = await scan(dir);
      const lines = whole.subarray(0, length).filter((byte) => byte === 10).length;
      expect(ledger.finalCount).toBe(lines);
      expect(ledger.tornLines).toBe(whole[length - 1] === 10 ? 0 : 1);
      await writeFile(join(dir, 'results', '2-s0000-1.ndjson'), [...ledger.openRows()].map((row) => line(row)).join(''));
      const resumed = await scan(dir);
      expect([resumed.finalCount, resumed.duplicates]).toEqual([10, 0]);
      expect((await readResults(dir, resumed, [0, 1, 2, 3])).map(({ text }) => text)).toEqual(['answer 0', 'answer 1', 'answer 2', 'answer 3']);
    }
  });

  it.each([
    ['half a line', '{"row":1,"ta\n'], ['broken UTF-8', Buffer.from([0x22, 0xff, 0x22, 10])], ['a line that is no result', '{"row":1}\n'], ['an empty line', '\n'],
    ['a BOM', `\uFEFF${line(1)}`], ['a row beyond the index', line(1).replace('"row":1', '"row":99')], ['another request\'s key', line(1).replace('"ordinal":1', '"ordinal":2')],
  ])('names file and line where %s stands in the middle', async (_, damage) => {
    const dir = await makeRun({ '1-s0000-1': line(0) });
    const path = join(dir, 'results', '1-s0000-1.ndjson');
    await appendFile(path, damage);
    await appendFile(path, line(2));
    await expect(scan(dir)).rejects.toMatchObject({ code: 'RESULTS_DAMAGED', details: { file: path, line: 2 } });
  });

  it('does not count what came after a fence', async () => {
    const dir = await makeRun({ '1-s0000-1': line(0) + line(1, 'ok', 'late'), '1-s0000-2': line(1, 'ok', 'in time') });
    const fences = new Map([['1-s0000-1', Buffer.byteLength(line(0))]]);
    const ledger = await scan(dir, { history: { ...emptyHistory(), fences } });
    expect(ledger).toMatchObject({ finalCount: 2, duplicates: 0, fencedBytes: Buffer.byteLength(line(1, 'ok', 'late')) });
    expect((await readResults(dir, ledger, [1]))[0]?.text).toBe('in time');
  });

  it('counts whole attempts only, where a shard is atomic', async () => {
    const dir = await makeRun({ '1-s0000-1': line(0) + line(1), '1-s0001-1': line(5) + line(6) });
    const ledger = await scan(dir, { completeShardsOnly: true, history: { ...emptyHistory(), finished: new Set(['1-s0001-1']) } });
    expect([...ledger.openRows()]).toEqual([0, 1, 2, 3, 4, 7, 8, 9]);
  });

  it('ignores files that are no results, and a missing folder has none', async () => {
    const dir = await makeRun({ 'notes': 'hello', '1-s0000-1': line(0) });
    expect((await scan(dir)).finalCount).toBe(1);
    expect((await scan(makeTempDir())).finalCount).toBe(0);
  });

  it('counts by outcome, kind and task; open ones by their latest, tries by their number', async () => {
    const dir = await makeRun({
      '1-s0000-1': line(0) + line(1, 'truncated') + line(2, 'engine_error') + line(5, 'length') + line(6, 'rejected'),
      '2-s0000-1': line(2, 'timed_out') + line(7, 'engine_error'),
      '3-s0000-1': line(7),
    });
    const ledger = await scan(dir);
    expect(ledger.countByOutcome()).toEqual({ ok: 2, truncated: 1, length: 1, rejected: 1, engine_error: 0, timed_out: 1 });
    expect(ledger.countByKind().generate_until).toMatchObject({ ok: 1, length: 1, rejected: 1 });
    expect(ledger.countOfTask(0)).toMatchObject({ ok: 1, truncated: 1, timed_out: 1 });
    expect([ledger.tries(2), ledger.tries(7), ledger.outcomeOf(3)]).toEqual([2, 1, undefined]);
    expect([...ledger.openRows(2)]).toEqual([3, 4, 8, 9]);
    expect(ledger.progressOfTask(1)).toEqual({ final: 3, requests: 5 });
  });

  it('reads a task\'s results back by row, from several files', async () => {
    const dir = await makeRun({ '1-s0000-1': line(9) + line(0) + line(5), '1-s0001-1': line(7) });
    const results = await readTaskResults(dir, await scan(dir), 1);
    expect(results).toEqual([5, 7, 9].map((row) => buildResult(index, row)));
  });

  it('notices a file that shrank after it was scanned', async () => {
    const dir = await makeRun({ '1-s0000-1': line(0) + line(1) });
    const ledger = await scan(dir);
    await truncate(join(dir, 'results', '1-s0000-1.ndjson'), 20);
    await expect(readResults(dir, ledger, [1])).rejects.toMatchObject({ code: 'RESULTS_DAMAGED' });
  });

  it('finds every acknowledged result of a writer that is killed while it writes', async () => {
    const dir = await makeRun({});
    const module = (name: string) => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)));
    const code = `const { openResultWriter } = await import(${module('result-writer.ts')});
      const { buildIndex, buildResult } = await import(${module('testing/sample-run.ts')});
      const index = buildIndex(2000); const writer = await openResultWriter({ dir: process.argv[1], epoch: 1, shard: 's0000', attempt: 1 });
      for (let row = 0; row < 2000; row += 1) { const append = writer.append([buildResult(index, row)]); void writer.flush(); await append; console.log(row); }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    let acknowledged = 0;
    child.stdout.on('data', (data: Buffer) => {
      acknowledged = Number(data.toString().trim().split('\n').at(-1));
      if (acknowledged >= 50) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const ledger = await scanResults(dir, { index: buildIndex(2000), history: emptyHistory() });
    expect(ledger.finalCount).toBeGreaterThan(acknowledged);
    expect(Array.from({ length: acknowledged + 1 }, (_, row) => ledger.isFinal(row))).not.toContain(false);
    expect((await readFile(join(dir, 'results', resultsFileName({ epoch: 1, shard: 's0000', attempt: 1 })))).length).toBeGreaterThan(0);
  });
});
