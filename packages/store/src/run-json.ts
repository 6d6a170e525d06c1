// The run's JSON files: written whole, for people to read as well, and read back.
import { readFile } from 'node:fs/promises';
import { AssayError } from '@assay/domain';
import { writeFileAtomic } from './atomic-file.ts';

export async function writeRunJson(path: string, value: unknown): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Reads one of the run's JSON files; undefined where that stage has not been reached. */
export async function readRunJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new AssayError('RESULTS_DAMAGED', { file: path, line: 1, problem: 'not JSON' });
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
