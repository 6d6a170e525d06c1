// Whether a run could be written where it is asked to be, found out without creating anything.
import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AssayError } from '@assay/domain';
import { checkSpace, readIfThere, RUNS_FOLDER, toDiskError } from '@assay/store';

interface OutputQuestion {
  /** As given; undefined: runs/ below `cwd`. */
  outputPath: string | undefined;
  cwd: string;
  /** What the run is expected to write, where that is known already. */
  neededBytes?: number;
}

/** Throws OUTPUT_NOT_WRITABLE or DISK_FULL. Returns the absolute path. */
export async function checkOutput({ outputPath, cwd, neededBytes = 0 }: OutputQuestion): Promise<string> {
  const dir = resolve(cwd, outputPath ?? RUNS_FOLDER);
  const folder = await findExistingFolder(dir, dir);
  await access(folder, constants.W_OK | constants.X_OK).catch((error: unknown) => { throw toDiskError(error, dir); });
  await checkSpace(dir, neededBytes);
  return dir;
}

async function findExistingFolder(path: string, asked: string): Promise<string> {
  const found = await readIfThere(stat(path)).catch((error: unknown) => { throw toDiskError(error, asked); });
  if (found?.isDirectory()) return path;
  if (found) throw new AssayError('OUTPUT_NOT_WRITABLE', { dir: asked, problem: path === asked ? 'a file is there' : `${path} is a file` });
  return dirname(path) === path ? path : findExistingFolder(dirname(path), asked);
}
