// How files are cut and named: small, one noun each, no drawer for leftovers, and stdout written by the command only.
import { expect, test } from 'vitest';
import { isTest, listFiles, readSources } from '../support/source-tree.ts';

const MAX_LINES = 300;
const MAX_MEDIAN_LINES = 90;
const DRAWERS = /(^|\/)(utils?|helpers?|common|types|misc|shared)(\.[a-z]+|\/)/;

const code = readSources(/\.(ts|mjs|py)$/);

test(`no source file has more than ${MAX_LINES} lines`, () => {
  const long = code.filter(({ text }) => text.split('\n').length > MAX_LINES + 1);
  expect(long.map(({ name, text }) => `${name}: ${text.split('\n').length} lines`)).toEqual([]);
});

test(`the median source file has at most ${MAX_MEDIAN_LINES} lines`, () => {
  const lines = code.filter(({ name }) => !isTest(name)).map(({ text }) => text.split('\n').length).toSorted((a, b) => a - b);
  expect(lines[Math.floor(lines.length / 2)]).toBeLessThanOrEqual(MAX_MEDIAN_LINES);
});

test('no file or folder is a drawer for leftovers', () => {
  expect(listFiles().filter((name) => DRAWERS.test(name))).toEqual([]);
});

test('TypeScript files are named in kebab-case, Python files in snake_case', () => {
  const wrong = listFiles().filter((name) => {
    const file = name.split('/').at(-1) ?? '';
    if (/\.(ts|mjs)$/.test(file)) return !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config))?\.(ts|mjs)$/.test(file);
    return name.startsWith('apps/worker/') && file.endsWith('.py') && !/^[a-z0-9_]+\.py$/.test(file);
  });
  expect(wrong).toEqual([]);
});

test('every module says in its first lines what it is', () => {
  const silent = code.filter(({ name, text }) => !isTest(name) && text.trim() !== '' && !/^(#!.*\n)?\s*(\/\/|\/\*\*?|"""|#)/.test(text));
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test('only the command line and the set-up write to the console', () => {
  const wrong = code.filter(({ name, text }) => /\.(ts|mjs)$/.test(name) && !isTest(name) && !/^(apps\/cli|setup|bench)\//.test(name)
    && /\bconsole\.\w+\(|\bprocess\.std(out|err)\.write\(/.test(text));
  expect(wrong.map(({ name }) => name)).toEqual([]);
});
