import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { readIfThere } from './missing-file.ts';

it('gives undefined for a file that is not there, and fails for one that cannot be read', async () => {
  const file = join(makeTempDir(), 'file');
  expect(await readIfThere(readFile(file, 'utf8'))).toBeUndefined();
  await writeFile(file, 'text');
  expect(await readIfThere(readFile(file, 'utf8'))).toBe('text');
  await expect(readIfThere(readdir(file))).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(await readIfThere(readdir(file), ['ENOENT', 'ENOTDIR'])).toBeUndefined();
});
