// Reads all results of a run into a ledger, and single results back. A torn last line is counted and costs that line only;
// a line that is broken inside a file is damage, named by file and line.
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AttemptKey, describeDamage, effectiveDeterminism, formatAttempt, type RunConfig } from '@assay/domain';
import { parseRequestIndex, type RequestIndex, type Result, resultSchema } from '@assay/protocol';
import { parseLine, scanLines, type ScannedLine } from './line-scan.ts';
import { readIfThere } from './missing-file.ts';
import { compareAttempts, ResultLedger, type ResultPlace } from './result-ledger.ts';
import type { RunDirectory } from './run-directory.ts';
import type { RunHistory } from './run-history.ts';
import { buildRunPaths, parseResultsFileName, resultsFileName } from './run-paths.ts';

/** Bytes read at once, and the gap between two wanted lines that is read over. */
const READ_BYTES = 4 * 2 ** 20;
const GAP_BYTES = 64 * 2 ** 10;

const KEY_COLUMNS = ['task', 'ordinal', 'repeat', 'window'] as const;

interface ScanOptions {
  index: RequestIndex;
  history: Pick<RunHistory, 'fences' | 'finished'>;
  /** For `strict`: an attempt counts whole or not at all. */
  completeShardsOnly?: boolean;
}

/**
 * The results of the run as they count in its tier of determinism; undefined where no request has been rendered yet.
 * Throws RESULTS_DAMAGED or RUN_VERSION.
 */
export async function readStoredResults(run: RunDirectory, history: RunHistory): Promise<ResultLedger | undefined> {
  const file = await readIfThere(readFile(run.paths.index));
  if (file === undefined) return undefined;
  const tier = effectiveDeterminism(run.header.settings as Pick<RunConfig, 'determinism' | 'batch_size'>);
  return scanResults(run.dir, { index: parseRequestIndex(file, run.paths.index), history, completeShardsOnly: tier === 'strict' });
}

/** Throws RESULTS_DAMAGED. */
export async function scanResults(dir: string, options: ScanOptions): Promise<ResultLedger> {
  const ledger = new ResultLedger(options.index);
  for (const attempt of await listAttempts(dir)) {
    if (options.completeShardsOnly && !options.history.finished.has(formatAttempt(attempt))) continue;
    await scanAttempt(dir, { ledger, attempt, history: options.history });
  }
  return ledger;
}

/** Adds one attempt's file to a ledger: what `strict` does when a shard is whole. */
export async function scanAttempt(
  dir: string,
  { ledger, attempt, history }: { ledger: ResultLedger; attempt: AttemptKey; history: Pick<RunHistory, 'fences'> },
): Promise<void> {
  const path = attemptPath(dir, attempt);
  const fence = history.fences.get(formatAttempt(attempt));
  const scan = await scanLines(path, (line) => {
    const result = parseLine(line, path, resultSchema);
    checkKey(result, line, path, ledger.index);
    ledger.add({ ...attempt, result, offset: line.offset, length: line.bytes.length });
  }, fence);
  if (scan.tornBytes > 0) ledger.tornLines += 1;
  if (fence !== undefined) ledger.fencedBytes += Math.max(0, (await stat(path).then(({ size }) => size, () => 0)) - fence);
}

/** Every attempt that has a results file, in order of acceptance. */
export async function listAttempts(dir: string): Promise<AttemptKey[]> {
  const names = (await readIfThere(readdir(buildRunPaths(dir).resultsDir))) ?? [];
  return names.map(parseResultsFileName).filter((key) => key !== undefined).sort(compareAttempts);
}

/** The accepted final results of a task, by row. */
export function readTaskResults(dir: string, ledger: ResultLedger, task: number): Promise<Result[]> {
  return readResults(dir, ledger, ledger.rowsOfTask(task));
}

/** The accepted final results of some requests, by row; those without one are left out. */
export async function readResults(dir: string, ledger: ResultLedger, rows: Iterable<number>): Promise<Result[]> {
  const byFile = new Map<string, ResultPlace[]>();
  for (const row of rows) {
    const place = ledger.placeOf(row);
    if (!place) continue;
    const path = attemptPath(dir, place.file);
    const places = byFile.get(path);
    if (places) places.push(place);
    else byFile.set(path, [place]);
  }
  const results: Result[] = [];
  for (const [path, places] of byFile) {
    for await (const line of readPlaces(path, places)) results.push(parseLine(line, path, resultSchema));
  }
  return results.sort((a, b) => a.row - b.row);
}

async function* readPlaces(path: string, places: ResultPlace[]): AsyncGenerator<ScannedLine> {
  const ordered = places.sort((a, b) => a.offset - b.offset);
  const file = await open(path, 'r');
  try {
    for (const range of joinRanges(ordered)) {
      const start = (range[0] as ResultPlace).offset;
      const last = range.at(-1) as ResultPlace;
      const data = Buffer.alloc(last.offset + last.length - start);
      const { bytesRead } = await file.read(data, 0, data.length, start);
      if (bytesRead < data.length) throw describeDamage(path, undefined, 'shorter than it was');
      for (const { offset, length } of range) yield { bytes: data.subarray(offset - start, offset - start + length), offset, number: 0 };
    }
  } finally {
    await file.close();
  }
}

/** Groups neighbouring lines so that each group is one read. */
function joinRanges(places: readonly ResultPlace[]): ResultPlace[][] {
  const ranges: ResultPlace[][] = [];
  for (const place of places) {
    const range = ranges.at(-1);
    const first = range?.[0];
    const last = range?.at(-1);
    const isNear = first && last && place.offset - (last.offset + last.length) <= GAP_BYTES && place.offset + place.length - first.offset <= READ_BYTES;
    if (range && isNear) range.push(place);
    else ranges.push([place]);
  }
  return ranges;
}

function checkKey(result: Result, line: ScannedLine, path: string, index: RequestIndex): void {
  const wrong = KEY_COLUMNS.find((column) => index.columns[column][result.row] !== result[column]);
  if (wrong) throw describeDamage(path, line.number, `row ${result.row} is another request (${wrong})`);
}

function attemptPath(dir: string, attempt: AttemptKey): string {
  return join(buildRunPaths(dir).resultsDir, resultsFileName(attempt));
}
