// Takes a run's folder away again, with the parents that were made for it. Invariant: what was there before, or was put there by
// others, stays; the folder is locked until all of its own is gone, so that no other start has begun in it.
import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileLock } from './lock-file.ts';
import { LOCK_FILES, RUN_FILES } from './run-paths.ts';

interface Discarded {
  dir: string;
  /** The uppermost folder that was made; undefined where `dir` itself was there. */
  madeFrom: string | undefined;
  lock: FileLock;
}

export async function discardFolder({ dir, madeFrom, lock }: Discarded): Promise<void> {
  const own = new Set(Object.values(RUN_FILES).map((path) => path.split('/')[0]));
  const names = await readdir(dir).catch(() => []);
  for (const name of names.filter((each) => own.has(each) && !LOCK_FILES.includes(each))) await rm(join(dir, name), { recursive: true, force: true });
  for (const name of LOCK_FILES) await rm(join(dir, name), { force: true });
  lock.release();
  if (madeFrom !== undefined) await removeEmpty(dir, madeFrom);
}

async function removeEmpty(dir: string, last: string): Promise<void> {
  const isRemoved = await rmdir(dir).then(() => true, () => false);
  if (isRemoved && dir !== last) await removeEmpty(dirname(dir), last);
}
