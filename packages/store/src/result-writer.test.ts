import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { ResultLedger } from './result-ledger.ts';
import { scanResults } from './result-scan.ts';
import { openResultWriter, type ResultFile } from './result-writer.ts';
import { emptyHistory } from './run-history.ts';
import { buildIndex, buildResult, makeRunFolders } from './testing/sample-run.ts';

const KEY = { epoch: 1, shard: 's0000', attempt: 1 };
const index = buildIndex(500);
const scan = (dir: string) => scanResults(dir, { index, history: emptyHistory() });

/** A file on a disk that is full after `room` bytes; `syncs` counts. */
async function openOnFullDisk(path: string, room: number): Promise<ResultFile & { syncs: number }> {
  const file = await open(path, 'wx');
  const disk = {
    syncs: 0,
    async write(buffer: Buffer, offset: number, length: number, position: number) {
      const fits = Math.min(length, room - position);
      if (fits <= 0) throw Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' });
      // Half at a time, as a real write may.
      return file.write(buffer, offset, Math.max(1, Math.ceil(fits / 2)), position);
    },
    truncate: (length: number) => file.truncate(length),
    datasync: () => { disk.syncs += 1; return file.datasync(); },
    close: () => file.close(),
  };
  return disk;
}

describe('the result writer', () => {
  it('resolves once results are in the file, in order, one record a line', async () => {
    const dir = makeTempDir();
    await makeRunFolders(dir);
    const writer = await openResultWriter({ dir, ...KEY });
    const odd = buildResult(index, 1, 'ok', 'a\u2028b\u0085c\u0000"\n');
    const appends = [writer.append([buildResult(index, 0)]), writer.append([odd, buildResult(index, 2)]), writer.append([])];
    await writer.flush();
    await Promise.all(appends);
    const text = await readFile(writer.path, 'utf8');
    expect(text.split('\n').slice(0, -1).map((line) => (JSON.parse(line) as { row: number }).row)).toEqual([0, 1, 2]);
    expect(writer.bytes).toBe(Buffer.byteLength(text));
    await writer.close();
  });

  it('syncs at 256 results without waiting, and once for many appends', async () => {
    const dir = makeTempDir();
    await makeRunFolders(dir);
    const file = await openOnFullDisk(join(dir, 'results', '1-s0000-1.ndjson'), 1e9);
    const writer = await openResultWriter({ dir, ...KEY, openFile: () => Promise.resolve(file) });
    await Promise.all(Array.from({ length: 256 }, (_, row) => writer.append([buildResult(index, row)])));
    expect(file.syncs).toBe(1);
    await writer.close();
  });

  it('syncs a lone result within about a second', async () => {
    const dir = makeTempDir();
    await makeRunFolders(dir);
    const writer = await openResultWriter({ dir, ...KEY });
    await writer.append([buildResult(index, 0)]);
    expect((await scan(dir)).finalCount).toBe(1);
    await writer.close();
  });

  it('tells the ledger only of durable results, with their places', async () => {
    const dir = makeTempDir();
    await makeRunFolders(dir);
    const ledger = new ResultLedger(index);
    const writer = await openResultWriter({ dir, ...KEY, ledger });
    const append = writer.append([buildResult(index, 4), buildResult(index, 2)]);
    expect(ledger.finalCount).toBe(0);
    await writer.flush();
    await append;
    expect(ledger.finalCount).toBe(2);
    expect(ledger.placeOf(2)).toEqual((await scan(dir)).placeOf(2));
    await writer.close();
  });

  it('refuses a file that is there, and appends after close', async () => {
    const dir = makeTempDir();
    await makeRunFolders(dir);
    const writer = await openResultWriter({ dir, ...KEY });
    await writer.close();
    await writer.close();
    await expect(writer.append([buildResult(index, 0)])).rejects.toMatchObject({ code: 'BUG' });
    await expect(openResultWriter({ dir, ...KEY })).rejects.toThrow('a file is there');
  });

  it('reports a full disk at any byte, keeps all lines before it readable, and a resumed run completes', async () => {
    const results = Array.from({ length: 40 }, (_, row) => buildResult(index, row, 'ok', 'x'.repeat(row)));
    const bytes = results.reduce((sum, result) => sum + JSON.stringify(result).length + 1, 0);
    for (let round = 0; round < 50; round += 1) {
      const dir = makeTempDir();
      await makeRunFolders(dir);
      const room = Math.floor((bytes * round) / 50);
      const writer = await openResultWriter({ dir, ...KEY, openFile: (path) => openOnFullDisk(path, room) });
      const appends = results.map((result) => writer.append([result]));
      const outcomes = Promise.allSettled(appends);
      await expect(writer.close()).rejects.toMatchObject({ code: 'DISK_FULL' });
      for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'DISK_FULL' } });
      const ledger = await scan(dir);
      expect(ledger.tornLines).toBe(0);
      expect((await readFile(writer.path)).length).toBe(writer.bytes);
      expect(writer.bytes).toBeLessThanOrEqual(room);
      const second = await openResultWriter({ dir, ...KEY, epoch: 2 });
      const missing = results.filter(({ row }) => !ledger.isFinal(row));
      await Promise.all([second.append(missing), second.close()]);
      expect((await scan(dir)).finalCount).toBe(40);
    }
  });

  it('says which folder cannot hold the file', async () => {
    const dir = join(makeTempDir(), 'missing');
    await expect(openResultWriter({ dir, ...KEY })).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
  });
});
