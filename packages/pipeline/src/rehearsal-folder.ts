// Where `assay plan` and `assay probe` work: a run directory of their own, of which nothing stays but logs that an error names.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssayError, toAssayError } from '@assay/domain';
import { buildRunPaths } from '@assay/store';
import type { RunInput } from './run-input.ts';

/** Throws INTERRUPTED where a signal came, whatever the parts of the work said while they were stopped. */
export async function inOwnFolder<Output>({ drain, stop }: RunInput['signals'], work: (dir: string) => Promise<Output>): Promise<Output> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-rehearsal-'));
  let failure: AssayError | undefined;
  try {
    return await work(join(folder, 'run'));
  } catch (thrown) {
    const isInterrupted = drain.aborted || stop.aborted;
    failure = isInterrupted ? new AssayError('INTERRUPTED', { instead: 'Nothing was kept; start it again.' }, { cause: thrown }) : toAssayError(thrown);
    throw failure;
  } finally {
    await removeUnnamed(folder, failure);
  }
}

async function removeUnnamed(folder: string, failure: AssayError | undefined): Promise<void> {
  const dir = join(folder, 'run');
  const { logsDir } = buildRunPaths(dir);
  const isNamed = failure !== undefined && `${failure.message} ${failure.remedy}`.includes(logsDir);
  if (!isNamed) return rm(folder, { recursive: true, force: true });
  const paths = (await readdir(dir)).map((name) => join(dir, name));
  await Promise.all(paths.filter((path) => path !== logsDir).map((path) => rm(path, { recursive: true, force: true })));
}
