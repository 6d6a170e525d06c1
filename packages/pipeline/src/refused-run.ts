// What becomes of the directory of a run that ended early. Refused before its first result it is no run, and leaves nothing; one that
// failed keeps its logs and goes on with the same command, which is said.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssayError } from '@assay/domain';
import type { RunContext } from './run-context.ts';

/** Refused: the command or the machine has to change before anything can be done. */
const REFUSALS: readonly AssayError['kind'][] = ['usage', 'environment'];

/** After everything was closed. */
export async function leaveDirectory({ run, ui }: Pick<RunContext, 'run' | 'ui'>, error: AssayError): Promise<void> {
  // A log that the error names has to be there.
  const isRefusal = REFUSALS.includes(error.kind) && !error.remedy.includes(run.paths.logsDir);
  if (isRefusal && !run.isResumed && !(await hasResults(run.paths.resultsDir))) return run.discard();
  if (!isRefusal && error.kind !== 'interrupted') ui.onNote(`kept    ${run.dir}: its logs, and what was done so far; the same command goes on there`);
}

async function hasResults(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.map((name) => stat(join(folder, name)).then(({ size }) => size, () => 0)));
  return sizes.some((size) => size > 0);
}
