// A file whose schema number this version does not read. It is refused by that number, before its form is looked at.
import { AssayError } from './errors.ts';

interface Found {
  /** The number as it stood in the file. */
  found: unknown;
  known: number;
  /** Version and commit of the Assay that wrote the file, where the file says so. */
  writer?: string | undefined;
}

export function refuseVersion(file: string, { found, known, writer }: Found): AssayError {
  return new AssayError('RUN_VERSION', { dir: file, found: String(found), known, problem: `it was written by ${writer ?? describeAge(found, known)}` });
}

function describeAge(found: unknown, known: number): string {
  if (typeof found !== 'number') return 'something else';
  return `${found < known ? 'an older' : 'a newer'} version of Assay`;
}
