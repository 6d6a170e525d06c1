// What a file exports, another takes: an export that nobody imports is dead, or belongs to its file alone.
import { expect, test } from 'vitest';
import { readSources } from '../support/source-tree.ts';
import { readExports, readTakenNames } from './exports.ts';

/** "file: name" of exports that no TypeScript of the clone imports, with the reason. */
const EXCEPTIONS: Record<string, string> = {};

const sources = readSources(/\.(ts|mjs)$/);
const exported = sources.filter(({ name }) => /^(packages\/[^/]+|apps\/cli)\/src\//.test(name))
  .flatMap((source) => readExports(source).map((name) => ({ file: source.name, name })));

test('no export is without an importer', () => {
  const taken = new Set(sources.flatMap(readTakenNames).filter(({ file, by }) => file !== by).map(({ file, name }) => `${file}: ${name}`));
  const dead = exported.filter(({ file, name }) => !taken.has(`${file}: ${name}`) && !taken.has(`${file}: *`)).map(({ file, name }) => `${file}: ${name}`);
  expect(dead.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
});

test('every form of export and import is seen', () => {
  const source = {
    name: 'packages/a/src/a.ts',
    text: [
      "import { one, type Two as Other } from './b.ts';",
      "import type {\n  Three,\n} from '@assay/c';",
      "import * as four from './d.ts';",
      "export { five, type Six as Seven } from './e.ts';",
      "const { eight } = await import('./f.ts');",
      "const load = () => import('./g.ts');",
      "import { readFile } from 'node:fs';",
      'export async function nine() {}',
      'export const TEN = 10;',
      'export interface Eleven {}',
      'export { nine as twelve };',
    ].join('\n'),
  };
  expect(readExports(source)).toEqual(['nine', 'TEN', 'Eleven', 'five', 'Seven', 'twelve']);
  expect(readTakenNames(source).map(({ file, name }) => `${file} ${name}`).toSorted()).toEqual([
    'packages/a/src/b.ts Two', 'packages/a/src/b.ts one', 'packages/a/src/d.ts *', 'packages/a/src/e.ts Six', 'packages/a/src/e.ts five',
    'packages/a/src/f.ts eight', 'packages/a/src/g.ts *', 'packages/c/src/index.ts Three',
  ]);
});
