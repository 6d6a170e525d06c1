// PURE has no clock, no randomness and no I/O: `now`, `seed` and `fits` are passed in. Nouns and wire are held to the same.
import { expect, test } from 'vitest';
import { isTest, readSources } from '../support/source-tree.ts';
import { readImports } from './imports.ts';

const PURE = /^packages\/(domain|protocol|planner|reports)\/.*\.ts$/;
const IMPURE = /\b(Date\.now|new Date\(\s*\)|performance\.|Math\.random|random(Bytes|UUID|Int)\b|process\.|setTimeout|setInterval|setImmediate|fetch\(|console\.)/;
/** Modules that compute only; of node:crypto that means digests. */
const PURE_BUILTINS = new Set(['node:buffer', 'node:crypto', 'node:path', 'node:util']);

const sources = readSources(PURE).filter(({ name }) => !isTest(name));

test('pure packages import no module that reads, writes or waits', () => {
  const wrong = sources.flatMap(readImports).filter(({ specifier }) => specifier.startsWith('node:') && !PURE_BUILTINS.has(specifier));
  expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([]);
});

test('pure packages use no clock, no randomness and no environment', () => {
  const wrong = sources.flatMap(({ name, text }) =>
    text.split('\n').flatMap((line, index) => (IMPURE.test(line.replace(/\/\/.*|^\s*\*.*/, '')) ? [`${name}:${index + 1}: ${line.trim()}`] : [])));
  expect(wrong).toEqual([]);
});
