// The one place that knows what a run directory's files are called. docs/run-directory.md describes each.
import { join } from 'node:path';
import { type AttemptKey, formatAttempt, parseAttempt } from '@assay/domain';

/** Every fixed name in a run directory. Folders end in "Dir". */
export const RUN_FILES = {
  header: 'run.json',
  lock: 'run.lock',
  config: 'config.yaml',
  identity: 'identity.json',
  events: 'events.ndjson',
  plan: 'plan.json',
  probe: 'probe.json',
  engine: 'engine.json',
  rendered: 'requests/rendered.json',
  manifest: 'manifest.json',
  requestsDir: 'requests',
  index: 'requests/index.bin',
  tokens: 'requests/tokens.bin',
  parameters: 'requests/params.json',
  documents: 'requests/docs.ndjson',
  resultsDir: 'results',
  scoresDir: 'scores',
  logsDir: 'logs',
  log: 'logs/run.ndjson',
} as const;

/** The lock, and what lies beside it. */
export const LOCK_FILES: readonly string[] = ['', '.pid', '-journal'].map((suffix) => `${RUN_FILES.lock}${suffix}`);

const RESULTS_SUFFIX = '.ndjson';

type RunFile = keyof typeof RUN_FILES;
export type RunPaths = Readonly<Record<RunFile, string>>;

export function buildRunPaths(dir: string): RunPaths {
  return Object.fromEntries(Object.entries(RUN_FILES).map(([name, file]) => [name, join(dir, file)])) as RunPaths;
}

export function resultsFileName(key: AttemptKey): string {
  return `${formatAttempt(key)}${RESULTS_SUFFIX}`;
}

/** The attempt whose results a file holds; undefined for any other file. */
export function parseResultsFileName(name: string): AttemptKey | undefined {
  return name.endsWith(RESULTS_SUFFIX) ? parseAttempt(name.slice(0, -RESULTS_SUFFIX.length)) : undefined;
}

/** requests/order-<epoch>.bin, relative to the run directory: u32 little-endian rows, which shards are ranges of. */
export function orderFile(epoch: number): string {
  return `${RUN_FILES.requestsDir}/order-${epoch}.bin`;
}

/** The log of one worker process. */
export function workerLogFile(dir: string, worker: string): string {
  return join(dir, RUN_FILES.logsDir, `${worker}.log`);
}
