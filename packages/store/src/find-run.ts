// Which run a command means that only looks: a path, an id or a folder's name, or the latest in runs/. Nothing is opened for writing.
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { AssayError } from '@assay/domain';
import { readRunDirectory, type RunDirectory } from './run-directory.ts';
import { readRunHeader } from './run-header.ts';
import { RUNS_FOLDER } from './run-location.ts';
import { buildRunPaths } from './run-paths.ts';

/** RUN on a command line: a path, or the id or folder name of a run in runs/. Throws RUN_NOT_FOUND or RUN_VERSION. */
export async function findRun(run: string, cwd: string): Promise<RunDirectory> {
  const dir = resolve(cwd, run);
  if (await readRunHeader(dir)) return readRunDirectory(dir);
  for await (const found of listRuns(cwd)) {
    const header = await readRunHeader(found).catch(() => undefined);
    if (header && (basename(found) === run || header.id === run)) return readRunDirectory(found);
  }
  throw new AssayError('RUN_NOT_FOUND', { dir });
}

/** The run in runs/ that something happened to last: started, resumed or ended. Throws RUN_NOT_FOUND or RUN_VERSION. */
export async function findLatestRun(cwd: string): Promise<RunDirectory> {
  let latest: { dir: string; atMs: number } | undefined;
  for await (const dir of listRuns(cwd)) {
    const atMs = await readTimeOfLastEvent(dir);
    if (latest === undefined || atMs > latest.atMs) latest = { dir, atMs };
  }
  if (latest === undefined) throw new AssayError('RUN_NOT_FOUND', { dir: resolve(cwd, RUNS_FOLDER) });
  return readRunDirectory(latest.dir);
}

/** runs/NAME, and runs/NAME/MODEL-DIGEST where an output path holds several. */
async function* listRuns(cwd: string): AsyncGenerator<string> {
  const parents = await listFolders(resolve(cwd, RUNS_FOLDER));
  for (const dir of parents) {
    for (const place of [dir, ...(await listFolders(dir))]) {
      if (await isThere(buildRunPaths(place).header)) yield place;
    }
  }
}

async function listFolders(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => join(parent, name)).toSorted();
}

const isThere = (path: string): Promise<boolean> => stat(path).then(() => true, () => false);

/** A run that was killed before its first event has the time it was made. */
async function readTimeOfLastEvent(dir: string): Promise<number> {
  const { events, header } = buildRunPaths(dir);
  const { mtimeMs } = await stat(events).catch(() => stat(header));
  return mtimeMs;
}
