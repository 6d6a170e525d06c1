// RUN of status, results and logs: the one that is named, else the latest in runs/, which is then said on stderr.
import { findLatestRun, findRun, type RunDirectory } from '@assay/store';
import type { Surroundings } from './surroundings.ts';

export const RUN_ARGUMENT = ['[run]', 'a run directory, or the id of a run in runs/; without it the latest run in runs/'] as const;

export async function takeRun(name: string | undefined, { cwd, stderr }: Pick<Surroundings, 'cwd' | 'stderr'>): Promise<RunDirectory> {
  if (name !== undefined) return findRun(name, cwd);
  const run = await findLatestRun(cwd);
  stderr.write(`note: no run was named: the latest in runs/ is ${run.dir}\n`);
  return run;
}
