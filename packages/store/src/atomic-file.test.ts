import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFileAtomic } from './atomic-file.ts';
import { checkSpace, checkWritable, estimateRunBytes, freeBytes, toDiskError } from './disk.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';

const systemError = (code: string) => Object.assign(new Error(code), { code });

describe('writeFileAtomic', () => {
  it('replaces a file and leaves nothing else behind', async () => {
    const dir = makeTempDir();
    await writeFileAtomic(join(dir, 'a.json'), 'one');
    await writeFileAtomic(join(dir, 'a.json'), 'two');
    expect(await readFile(join(dir, 'a.json'), 'utf8')).toBe('two');
    expect(await readdir(dir)).toEqual(['a.json']);
  });

  it('leaves no temporary file where it fails', async () => {
    const dir = makeTempDir();
    await mkdir(join(dir, 'a.json', 'full'), { recursive: true });
    await expect(writeFileAtomic(join(dir, 'a.json'), 'one')).rejects.toThrow('a folder is where a file belongs');
    expect(await readdir(dir)).toEqual(['a.json']);
  });
});

describe('the disk', () => {
  it('is checked by writing: a file in the way is named', async () => {
    const dir = makeTempDir();
    await checkWritable(join(dir, 'new', 'folder'));
    expect(await readdir(join(dir, 'new', 'folder'))).toEqual([]);
    await writeFile(join(dir, 'file'), '');
    await expect(checkWritable(join(dir, 'file'))).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE', details: { problem: 'a file is there' } });
    await expect(checkWritable(join(dir, 'file', 'below'))).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
  });

  it('has its room measured, also for a folder that is not there yet', async () => {
    const dir = makeTempDir();
    expect(await freeBytes(join(dir, 'a', 'b'))).toBeGreaterThan(0);
    await checkSpace(dir, 1);
    await expect(checkSpace(dir, 2 ** 60)).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(estimateRunBytes({ requests: 1, promptTokens: 10, newTokens: 10 })).toBeGreaterThan(1000);
  });

  it.each([['ENOSPC', 'DISK_FULL'], ['EDQUOT', 'DISK_FULL'], ['EACCES', 'OUTPUT_NOT_WRITABLE'], ['EROFS', 'OUTPUT_NOT_WRITABLE']])('turns %s into %s', (code, expected) => {
    expect(toDiskError(systemError(code), '/d')).toMatchObject({ code: expected });
  });

  it('leaves other errors alone', () => {
    const error = systemError('EPROTO');
    expect(toDiskError(error, '/d')).toBe(error);
  });
});
