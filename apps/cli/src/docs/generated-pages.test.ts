import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildGeneratedPages } from './generated-pages.ts';

const root = join(import.meta.dirname, '../../../..');
const pages = Object.entries(await buildGeneratedPages());

test.each(pages)('%s says what the code says (write-docs.ts renews it)', async (path, text) => {
  expect(await readFile(join(root, path), 'utf8')).toBe(text);
});

test('help has no line wider than it says', () => {
  for (const [path, text] of pages.filter(([name]) => name.endsWith('.txt'))) {
    expect(text.split('\n').filter((line) => line.length > 130), path).toEqual([]);
  }
});
