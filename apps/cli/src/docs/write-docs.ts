// Writes the documents that are made from code: node apps/cli/src/docs/write-docs.ts
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildGeneratedPages } from './generated-pages.ts';

const root = join(import.meta.dirname, '../../../..');

for (const [path, text] of Object.entries(await buildGeneratedPages())) {
  await mkdir(join(root, path, '..'), { recursive: true });
  await writeFile(join(root, path), text);
}
