import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { explainHomeEntry } from './home.ts';
import { LearnedFile } from './learned-file.ts';

const entry = z.object({ key: z.string(), value: z.number() });
const openIn = (home: string, mostEntries = 100) => new LearnedFile({ home, name: 'test', entry, mostEntries });
const hasSameKey = (a: { key: string }, b: { key: string }) => a.key === b.key;
const pathIn = (home: string) => join(home, 'learned-test.json');

test('what was added is read back, oldest first, and an entry takes the place of those it stands for', async () => {
  const file = openIn(makeTempDir());
  expect(await file.read()).toEqual([]);
  for (const value of [1, 2, 3]) await file.add([{ key: value === 2 ? 'b' : 'a', value }], hasSameKey);
  expect(await file.read()).toEqual([{ key: 'b', value: 2 }, { key: 'a', value: 3 }]);
});

test('of the entries like it, as many of the newest stay as are asked for', async () => {
  const file = openIn(makeTempDir());
  for (const value of [1, 2, 3, 4]) {
    await file.add([{ key: 'a', value }], hasSameKey, 3);
    if (value === 2) await file.add([{ key: 'b', value }], hasSameKey, 3);
  }
  expect(await file.read()).toEqual([{ key: 'a', value: 2 }, { key: 'b', value: 2 }, { key: 'a', value: 3 }, { key: 'a', value: 4 }]);
});

test('a list is added in one write, each entry in the place of those it stands for, in the list too', async () => {
  const file = openIn(makeTempDir(), 4);
  await file.add(['a', 'b', 'c'].map((key) => ({ key, value: 1 })), hasSameKey);
  await file.add([{ key: 'b', value: 2 }, { key: 'd', value: 3 }, { key: 'b', value: 4 }], hasSameKey);
  expect(await file.read()).toEqual([{ key: 'a', value: 1 }, { key: 'c', value: 1 }, { key: 'd', value: 3 }, { key: 'b', value: 4 }]);
});

test('it keeps the newest entries, and leaves nothing but its file and the lock', async () => {
  const home = makeTempDir();
  const file = openIn(home, 3);
  for (const value of [1, 2, 3, 4, 5]) await file.add([{ key: 'a', value }], () => false);
  expect((await file.read()).map(({ value }) => value)).toEqual([3, 4, 5]);
  const names = await readdir(home);
  expect(names.toSorted()).toEqual(['learned-lock', 'learned-test.json']);
  expect(names.every((name) => explainHomeEntry(name) !== undefined)).toBe(true);
});

test.each([
  ['half a file', '{"schema":1,"entries":[{"key":"a"'],
  ['no JSON', '\u0000\u0000'],
  ['another schema', '{"schema":2,"entries":[]}'],
  ['a list', '[]'],
])('%s is no file, and the next entry makes a whole one', async (_, text) => {
  const home = makeTempDir();
  await writeFile(pathIn(home), text);
  const file = openIn(home);
  expect(await file.read()).toEqual([]);
  await file.add([{ key: 'a', value: 1 }], () => false);
  expect(JSON.parse(await readFile(pathIn(home), 'utf8'))).toEqual({ schema: 1, entries: [{ key: 'a', value: 1 }] });
});

test('an entry that is broken is passed over, the others count', async () => {
  const home = makeTempDir();
  await writeFile(pathIn(home), JSON.stringify({ schema: 1, entries: [{ key: 'a' }, null, { key: 'b', value: 2, later: true }] }));
  expect(await openIn(home).read()).toEqual([{ key: 'b', value: 2 }]);
});

test('processes that write at once lose nothing', async () => {
  const home = makeTempDir();
  const script = `
    import { LearnedFile } from ${JSON.stringify(join(import.meta.dirname, 'learned-file.ts'))};
    const entry = { safeParse: (data) => ({ success: true, data }) };
    const file = new LearnedFile({ home: process.argv[1], name: 'test', entry, mostEntries: 100 });
    for (let value = 0; value < 5; value += 1) await file.add([{ key: process.argv[2], value }], () => false);`;
  await Promise.all(['a', 'b', 'c'].map((key) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, home, key])));
  const entries = await openIn(home).read();
  expect(entries.map(({ key, value }) => `${key}${value}`).toSorted()).toEqual(['a', 'b', 'c'].flatMap((key) => [0, 1, 2, 3, 4].map((value) => `${key}${value}`)));
}, 30_000);
