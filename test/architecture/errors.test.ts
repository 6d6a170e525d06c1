// The table of errors holds what can happen: a code that nothing throws is a promise that nobody keeps.
import { expect, test } from 'vitest';
import { ERRORS } from '@assay/domain';
import { isTest, readSources } from '../support/source-tree.ts';

const sources = readSources(/^(packages|apps)\/.*\.(ts|py)$/)
  .filter(({ name }) => !isTest(name) && !/\/tests\//.test(name) && name !== 'packages/domain/src/errors.ts');
/** In quotes: prose about a code throws nothing. */
const named = new Set(sources.flatMap(({ text }) => [...text.matchAll(/['"]([A-Z]+(?:_[A-Z]+)*)['"]/g)].map(([, code = '']) => code)));

test('every code of the table is used by some source, in TypeScript or in Python', () => {
  expect(Object.keys(ERRORS).filter((code) => !named.has(code))).toEqual([]);
});
