// Takes a run's folder away again, with the parents that were made for it. Invariant: what was there before, or was put there by
// others, stays.
import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RUN_FILES } from './run-paths.ts';

/** `madeFrom`: the uppermost folder that was made; undefined where `dir` itself was there. */
export async function discardFolder(dir: string, madeFrom: string | undefined): Promise<void> {
  const own = new Set(Object.values(RUN_FILES).map((path) => path.split('/')[0]));
  const names = await readdir(dir).catch(() => []);
  for (const name of names.filter((each) => own.has(each) || each.startsWith(RUN_FILES.lock))) await rm(join(dir, name), { recursive: true, force: true });
  if (madeFrom !== undefined) await removeEmpty(dir, madeFrom);
}

async function removeEmpty(dir: string, last: string): Promise<void> {
  const isRemoved = await rmdir(dir).then(() => true, () => false);
  if (isRemoved && dir !== last) await removeEmpty(dirname(dir), last);
}
