// Two runs of the same requests, row by row: how far their sums are apart, and whose greedy match has turned.
import { readRecord } from '../test/support/run-record.ts';
import { readScores } from '../test/support/score-files.ts';

interface Comparison {
  rows: number;
  /** Of the log-likelihoods. */
  maxDelta: number;
  /** Rows whose greedy match is another. */
  flips: number[];
}

/** Throws where a run lacks a row or has one twice: such runs cannot be compared. */
export async function compareRuns(dir: string, otherDir: string): Promise<Comparison> {
  const [own, other] = [await readRecord(dir), await readRecord(otherDir)];
  for (const { index, ledger } of [own, other]) {
    if (ledger.finalCount !== index.count || ledger.duplicates !== 0) throw new Error(`${ledger.finalCount} of ${index.count} rows are final, ${ledger.duplicates} twice`);
  }
  if (own.results.length !== other.results.length) throw new Error(`${own.results.length} rows and ${other.results.length} rows`);
  const deltas = own.results.map(({ logprob }, row) => Math.abs(Number(logprob ?? 0) - Number(other.results[row]?.logprob ?? 0)));
  const flips = own.results.filter(({ greedy }, row) => greedy !== other.results[row]?.greedy).map(({ row }) => row);
  return { rows: deltas.length, maxDelta: Math.max(...deltas), flips };
}

/** Each sample's metric values, by task. */
export function readSampleMetrics(dir: string): Record<string, unknown[][]> {
  const { samples } = readScores(dir);
  return Object.fromEntries(Object.entries(samples).map(([task, lines]) => [task, lines.map((line) => line.metrics.map((name) => line[name]))]));
}
