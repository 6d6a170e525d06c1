// The files in lm_eval's shape that a run has left, read as strict JSON: JSON.parse refuses NaN and Infinity.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildRunPaths } from '@assay/store';

/** A line of samples_*.jsonl. Metrics stand beside these keys. */
interface Sample extends Record<string, unknown> {
  doc_id: number;
  filter: string;
  metrics: string[];
  resps: unknown[][];
}

type TaskResults = Record<string, unknown>;

export interface ScoreFiles {
  resultsFile: string;
  results: { results: Record<string, TaskResults>; configs: Record<string, unknown>; 'n-samples': Record<string, { effective: number }> };
  samples: Record<string, Sample[]>;
}

/** Those that were written last: a start that was killed on the way may have left others. */
export function readScoreFiles(runDir: string): ScoreFiles {
  const dir = buildRunPaths(runDir).scoresDir;
  const names = readdirSync(dir);
  const resultsName = names.filter((name) => name.startsWith('results_')).toSorted().at(-1);
  if (resultsName === undefined) throw new Error(`${dir} holds no results file`);
  const date = resultsName.slice('results_'.length, -'.json'.length);
  const samples = names.filter((name) => name.startsWith('samples_') && name.endsWith(`_${date}.jsonl`)).map((name) => [
    name.slice('samples_'.length, -`_${date}.jsonl`.length), readLines(join(dir, name)),
  ] as const);
  const resultsFile = join(dir, resultsName);
  return { resultsFile, results: JSON.parse(readFileSync(resultsFile, 'utf8')) as ScoreFiles['results'], samples: Object.fromEntries(samples) };
}

/** What runs are compared by: the metrics and each task's samples. Times, and digests of time, stay out. */
export function readScores(runDir: string): { results: ScoreFiles['results']['results']; samples: ScoreFiles['samples'] } {
  const { results, samples } = readScoreFiles(runDir);
  return { results: results.results, samples };
}

function readLines(path: string): Sample[] {
  return readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Sample);
}
