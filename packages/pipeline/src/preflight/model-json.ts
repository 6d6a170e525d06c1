// A JSON file of a model's folder. What is wrong with it is said of the file, with what helps: a broken one is fetched again, an
// unreadable one is not.
import { readFile } from 'node:fs/promises';
import { AssayError } from '@assay/domain';

/** Throws MODEL_BROKEN. */
export async function readModelJson(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => { throw describeUnreadable(file, error); });
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new AssayError('MODEL_BROKEN', { model: file, problem: `not JSON: ${(cause as Error).message}`, instead: 'Correct the file, or fetch it again.' }, { cause });
  }
  const isMapping = value !== null && typeof value === 'object' && !Array.isArray(value);
  if (!isMapping) throw new AssayError('MODEL_BROKEN', { model: file, problem: 'not a JSON object', instead: 'Correct the file, or fetch it again.' });
  return value as Record<string, unknown>;
}

const UNREADABLE: Readonly<Record<string, { problem: string; instead: string }>> = {
  // A hub cache is made of links to files that somebody may have deleted.
  ENOENT: { problem: 'it is a link to a file that is not there', instead: 'Put the file back that it leads to, or fetch it again.' },
  EISDIR: { problem: 'it cannot be read (EISDIR): it is a folder', instead: 'Put the file itself there.' },
  EACCES: { problem: 'it cannot be read (EACCES)', instead: 'Give this user the right to read it and the folders above it.' },
};

/** MODEL_BROKEN for a file that is listed and cannot be read. */
export function describeUnreadable(file: string, error: NodeJS.ErrnoException): AssayError {
  const known = UNREADABLE[error.code ?? ''] ?? { problem: `it cannot be read (${error.code})`, instead: 'See what is wrong with the disk or the folder that it lies in.' };
  return new AssayError('MODEL_BROKEN', { model: file, ...known }, { cause: error });
}
