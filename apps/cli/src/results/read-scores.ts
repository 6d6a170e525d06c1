// The scores of a run as metric rows: from the manifest where the run is sealed, else from its newest results file.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import type { MetricRow, WireFloat } from '@assay/protocol';
import { readManifest, type RunDirectory } from '@assay/store';

export interface RunScores {
  /** Absolute path of the results file, for lm_eval's own readers. */
  resultsFile: string;
  sealed: boolean;
  rows: MetricRow[];
}

/** Throws RUN_NOT_FOUND where the run has no scores yet. */
export async function readScores(run: RunDirectory): Promise<RunScores> {
  const names = await readdir(run.paths.scoresDir).catch(() => []);
  const file = names.filter((name) => /^results_.*\.json$/.test(name)).sort().at(-1);
  if (file === undefined) throw new AssayError('RUN_NOT_FOUND', { dir: `${run.dir} (no scores yet; see \`assay status\`)` });
  const resultsFile = join(run.paths.scoresDir, file);
  const manifest = await readManifest(run.dir);
  if (manifest) return { resultsFile, sealed: true, rows: manifest.scores.rows };
  return { resultsFile, sealed: false, rows: listRows(JSON.parse(await readFile(resultsFile, 'utf8')) as ResultsFile) };
}

interface ResultsFile {
  results: Record<string, Record<string, unknown>>;
  groups?: Record<string, unknown>;
  versions?: Record<string, string | number>;
  'n-shot'?: Record<string, number | string>;
  higher_is_better?: Record<string, Record<string, boolean | null>>;
}

/** lm_eval's keys are "metric,filter" and "metric_stderr,filter". */
export function listRows(file: ResultsFile): MetricRow[] {
  return Object.entries(file.results).flatMap(([task, values]) => (
    Object.entries(values).filter(([key]) => key.includes(',') && !/_stderr,/.test(key)).map(([key, value]) => {
      const [metric = '', filter = ''] = key.split(',');
      const stderr = values[`${metric}_stderr,${filter}`];
      return {
        task,
        alias: String(values['alias'] ?? task),
        version: file.versions?.[task] ?? 'N/A',
        filter,
        numFewshot: file['n-shot']?.[task] ?? 'N/A',
        metric,
        value: value as WireFloat,
        stderr: typeof stderr === 'number' ? stderr : null,
        higherIsBetter: file.higher_is_better?.[task]?.[metric] ?? null,
        group: Object.hasOwn(file.groups ?? {}, task),
      };
    })
  ));
}
