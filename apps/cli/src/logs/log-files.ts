// The log files of a run: the run's own (JSON lines) and one a worker process (what it printed).
import { readdir } from 'node:fs/promises';
import { AssayError, suggestNearest } from '@assay/domain';
import { type RunDirectory, workerLogFile } from '@assay/store';

interface LogFile {
  path: string;
  /** JSON lines, to be rendered for people. */
  isStructured: boolean;
}

/** The run's own log without a name; a worker's by its name. Throws ARGUMENT_UNKNOWN with the names there are. */
export async function findLogFile(run: RunDirectory, worker: string | undefined): Promise<LogFile> {
  if (worker === undefined) return { path: run.paths.log, isStructured: true };
  const names = await listWorkerLogs(run);
  if (names.includes(worker)) return { path: workerLogFile(run.dir, worker), isStructured: false };
  const there = names.length === 0 ? 'No worker has written a log yet.' : `There are: ${names.join(', ')}.`;
  throw new AssayError('ARGUMENT_UNKNOWN', { what: 'worker', name: worker, nearest: suggestNearest(worker, names, there) });
}

export async function listWorkerLogs(run: RunDirectory): Promise<string[]> {
  const files = await readdir(run.paths.logsDir).catch(() => []);
  return files.filter((name) => name.endsWith('.log')).map((name) => name.slice(0, -'.log'.length)).sort();
}
