// The scores of a run as metric rows: from the manifest where the run is sealed, else from its newest results file.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError, isWorking, type RunState } from '@assay/domain';
import type { AnswerTally, Coverage, MetricRow, WireFloat } from '@assay/protocol';
import { findSelections, type Selections } from '@assay/reports';
import { foldEvents, readEvents, readManifest, type RunDirectory } from '@assay/store';
import { listLiveProcesses, readStateNow } from '../status/live-processes.ts';

interface RunScores {
  /** Absolute path of the results file, for lm_eval's own readers. */
  resultsFile: string;
  sealed: boolean;
  rows: MetricRow[];
  /** By task, as in the manifest. */
  coverage: Record<string, Coverage>;
  lengthShare: Record<string, number>;
  answers: Record<string, AnswerTally>;
  /** Of each task of which only some documents were asked: how many, of how many. */
  selections: Selections;
}

/** Throws SCORES_MISSING where the run has none yet. */
export async function readScores(run: RunDirectory): Promise<RunScores> {
  const names = await readdir(run.paths.scoresDir).catch(() => []);
  const name = names.filter((entry) => /^results_.*\.json$/.test(entry)).sort().at(-1);
  if (name === undefined) throw refuseMissing(run, await readState(run));
  const resultsFile = join(run.paths.scoresDir, name);
  const manifest = await readManifest(run.dir);
  if (manifest === undefined) {
    const file = JSON.parse(await readFile(resultsFile, 'utf8')) as ResultsFile;
    return { resultsFile, sealed: false, rows: listRows(file), coverage: file.assay?.coverage ?? {}, lengthShare: {}, answers: {}, selections: file.assay?.selections ?? {} };
  }
  const coverage = Object.fromEntries(manifest.tasks.map((task) => [task.task, task.coverage]));
  const lengthShare = Object.fromEntries(manifest.tasks.map(({ task, lengthShare: share }) => [task, share]));
  const answers = Object.fromEntries(manifest.tasks.map((task) => [task.task, task.answers]));
  return { resultsFile, sealed: true, rows: manifest.scores.rows, coverage, lengthShare, answers, selections: findSelections(manifest.tasks, manifest.config) };
}

function refuseMissing({ dir }: RunDirectory, state: string): AssayError {
  return new AssayError('SCORES_MISSING', { dir, state, ...(isWorking(state as RunState) ? { instead: 'It is at work: `assay status` shows how far.' } : {}) });
}

async function readState(run: RunDirectory): Promise<string> {
  const { events } = await readEvents(run.paths.events);
  const history = foldEvents(events);
  return readStateNow(run, history, listLiveProcesses(events, history));
}

interface ResultsFile {
  results: Record<string, Record<string, unknown>>;
  groups?: Record<string, unknown>;
  versions?: Record<string, string | number>;
  'n-shot'?: Record<string, number | string>;
  higher_is_better?: Record<string, Record<string, boolean | null>>;
  /** What a run adds to lm_eval's keys. */
  assay?: { coverage: Record<string, Coverage>; selections?: Selections };
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
