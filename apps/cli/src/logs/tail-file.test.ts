import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { renderLogLine } from './log-lines.ts';
import { tailFile } from './tail-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-tail-'));
  path = join(folder, 'a.log');
});
afterEach(() => rm(folder, { recursive: true }));

async function tail(lines: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const line of tailFile(path, { lines })) seen.push(line);
  return seen;
}

test.each([[1, ['c']], [2, ['b', 'c']], [3, ['a', 'b', 'c']], [9, ['a', 'b', 'c']]])('the last %i lines', async (lines, expected) => {
  await writeFile(path, 'a\nb\nc\n');
  expect(await tail(lines)).toEqual(expected);
  await writeFile(path, 'a\nb\nc');
  expect(await tail(lines)).toEqual(expected);
});

test('a file larger than a chunk, with characters of several bytes', async () => {
  const all = Array.from({ length: 20_000 }, (_, number) => `line ${number} äöü\u2028…`);
  await writeFile(path, `${all.join('\n')}\n`);
  expect(await tail(15_000)).toEqual(all.slice(-15_000));
});

test('a missing or empty file has no lines', async () => {
  expect(await tail(5)).toEqual([]);
  await writeFile(path, '');
  expect(await tail(5)).toEqual([]);
});

test('following shows what is appended, whole lines only, until it is over', async () => {
  await writeFile(path, 'a\n');
  const steps = [() => appendFile(path, 'b'), () => appendFile(path, 'c\nd\n'), () => appendFile(path, 'end\n')];
  const seen: string[] = [];
  const isOver = async () => {
    await steps.shift()?.();
    return steps.length === 0;
  };
  for await (const line of tailFile(path, { lines: 5, isOver, pollMs: 1 })) seen.push(line);
  expect(seen).toEqual(['a', 'bc', 'd', 'end']);
});

test('a line of the log reads as time, level, message and the rest', () => {
  expect(renderLogLine('{"level":"info","time":"T","pid":1,"msg":"stage","seconds":2,"err":{"message":"no","stack":"long"}}')).toBe('T info  stage seconds=2 err="no"');
  expect(renderLogLine('plain text')).toBe('plain text');
  expect(renderLogLine('null')).toBe('null');
});
