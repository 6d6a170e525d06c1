// The documents among themselves: links lead somewhere, indexes are complete, the README stays short.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cloneDir } from '../support/requirements.ts';
import { listFiles, readFile } from '../support/source-tree.ts';

const MAX_README_LINES = 150;
const pages = listFiles().filter((name) => name.endsWith('.md')).map(readFile);

test('every link to a file leads to one', () => {
  const dead = pages.flatMap(({ name, text }) => [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(path.join(cloneDir, path.dirname(name), target)))
    .map((target) => `${name} → ${target}`));
  expect(dead).toEqual([]);
});

test(`the README has at most ${MAX_README_LINES} lines`, () => {
  expect(readFile('README.md').text.split('\n').length).toBeLessThanOrEqual(MAX_README_LINES);
});

test('every decision is listed in the index, and every page of docs/ is linked from the README or another page', () => {
  const linked = new Set(pages.flatMap(({ name, text }) => [...text.matchAll(/\]\(([^)#\s]+)/g)]
    .map(([, target = '']) => path.posix.join(path.posix.dirname(name), target))));
  const orphans = pages.map(({ name }) => name).filter((name) => name.startsWith('docs/') && !linked.has(name));
  expect(orphans).toEqual([]);
});

test('docs/architecture.md names every package and app', () => {
  const { text } = readFile('docs/architecture.md');
  const boxes = new Set(listFiles().flatMap((name) => /^(?:packages|apps)\/[^/]+(?=\/)/.exec(name) ?? []));
  expect([...boxes].filter((box) => !text.includes(`${box}/`))).toEqual([]);
});
