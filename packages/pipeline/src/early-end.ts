// The end of a run that ended early: why, for its record, and what becomes of its directory. Refused before its first result it is no
// run, and leaves nothing; one that failed keeps its logs and goes on with the same command, which is said.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError, canMove, toAssayError } from '@assay/domain';
import { enterState, type RunContext } from './run-context.ts';

/** Writes down why the run ended early, and returns the error to show. What cannot be written is in the log at least. */
export async function recordEnd(context: RunContext, thrown: unknown): Promise<AssayError> {
  const error = describeEnd(context, thrown);
  const { epoch, events } = context;
  context.log.error({ err: error }, 'the run ended early');
  const state = error.kind === 'interrupted' ? 'interrupted' : 'failed';
  try {
    if (!canMove('run', events.history.state, state)) return error;
    if (state === 'interrupted') await events.append({ type: 'interrupted', epoch, reason: error.message });
    else await events.append({ type: 'failed', epoch, code: error.code, message: error.message });
    await enterState(context, state);
  } catch (failed) {
    context.log.error({ err: failed }, 'the end could not be recorded');
  }
  return error;
}

/** A run that was told to end ends for that reason, whatever its parts said while they were stopped. */
function describeEnd({ drain, stop, run }: RunContext, thrown: unknown): AssayError {
  if (stop.aborted && stop.reason instanceof AssayError) return stop.reason;
  if (stop.aborted || drain.aborted) return new AssayError('INTERRUPTED', { instead: `The same command resumes it in ${run.dir}.` }, { cause: thrown });
  return toAssayError(thrown);
}

/** Refused: the command or the machine has to change before anything can be done. */
const REFUSALS: readonly AssayError['kind'][] = ['usage', 'environment'];

/** After all that writes there was closed. */
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
