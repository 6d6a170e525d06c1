// The run's JSON files: written whole, for people to read as well, and read back.
import { readFile } from 'node:fs/promises';
import { describeDamage } from '@assay/domain';
import { writeFileAtomic } from './atomic-file.ts';
import { readIfThere } from './missing-file.ts';

export async function writeRunJson(path: string, value: unknown): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Reads one of the run's JSON files; undefined where that stage has not been reached. */
export async function readRunJson(path: string): Promise<unknown> {
  const text = await readIfThere(readFile(path, 'utf8'), ['ENOENT', 'ENOTDIR']);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw describeDamage(path, 1, 'not JSON');
  }
}
