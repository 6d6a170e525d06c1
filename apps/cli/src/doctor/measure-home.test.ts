import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { measureHome } from './measure-home.ts';

test('files of one kind are one line with their sum, folders keep their names, and what is not there is said', async () => {
  const home = makeTempDir();
  for (const [name, size] of [['learned-memory.json', 10], ['learned-speeds.json', 20], ['learned-lock', 0], ['notes.txt', 5]] as const) await writeFile(join(home, name), 'x'.repeat(size));
  for (const name of ['python-1', 'python-2']) await mkdir(join(home, name));
  const entries = await measureHome(home);
  expect(entries.filter(({ name }) => name.startsWith('learned'))).toEqual([{ name: 'learned-*', purpose: expect.stringContaining('what runs have shown'), bytes: 30 }]);
  expect(entries.filter(({ name }) => name.startsWith('python')).map(({ name }) => name)).toEqual(['python-1', 'python-2']);
  expect(entries.find(({ name }) => name === 'notes.txt')).toMatchObject({ purpose: 'not known to this version', bytes: 5 });
  expect(entries.find(({ name }) => name === 'models')).toMatchObject({ bytes: null });
});
