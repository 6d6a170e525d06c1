import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkOutput } from './output-path.ts';

let cwd: string;
beforeEach(async () => { cwd = await mkdtemp(join(tmpdir(), 'assay-output-')); });
afterEach(() => rm(cwd, { recursive: true }));

test('a path that is free is fine, and nothing is made of it', async () => {
  expect(await checkOutput({ outputPath: 'a/b/c', cwd })).toBe(join(cwd, 'a/b/c'));
  expect(await checkOutput({ outputPath: undefined, cwd })).toBe(join(cwd, 'runs'));
  expect(await readdir(cwd)).toEqual([]);
});

test('a file in the way is named', async () => {
  await writeFile(join(cwd, 'file'), '');
  await expect(checkOutput({ outputPath: 'file', cwd })).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE', message: expect.stringContaining('a file is there') });
  await expect(checkOutput({ outputPath: 'file/run', cwd })).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
});

test('a path with a NUL character is refused', async () => {
  await expect(checkOutput({ outputPath: 'a\0b', cwd })).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
});

test('more than the disk holds is refused before anything starts', async () => {
  await expect(checkOutput({ outputPath: 'run', cwd, neededBytes: 2 ** 60 })).rejects.toMatchObject({ code: 'DISK_FULL' });
});

test('a file system that takes no files is refused', async () => {
  await expect(checkOutput({ outputPath: '/proc/assay', cwd })).rejects.toMatchObject({ kind: 'environment' });
});
