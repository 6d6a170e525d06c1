// What a run comes to, for whoever asked for it.
import { EXIT_CODES } from '@assay/domain';
import type { Manifest, MetricRow, Rendered } from '@assay/protocol';
import { findSelections } from '@assay/reports';
import type { RunSummary } from './observer.ts';
import type { RunContext } from './run-context.ts';
import type { Scorer } from './stages/score.ts';

interface Ending {
  rows: readonly MetricRow[];
  coverage: RunSummary['coverage'];
  waivers: readonly unknown[];
}

/** 1 as soon as a score is missing, is over a part of its task, or stands only because a rule was waived. */
export function exitCodeOf({ rows, coverage, waivers }: Ending): number {
  const isWhole = !rows.some(({ error }) => error) && Object.values(coverage).every(({ share }) => share === 1) && waivers.length === 0;
  return isWhole ? EXIT_CODES.done : EXIT_CODES.incomplete;
}

export function summarizeRun(context: RunContext, scorer: Scorer, { rendered, rows }: { rendered: Rendered; rows: readonly MetricRow[] }): RunSummary {
  const { history } = context.events;
  const perTask = <Value>(valueOf: (task: number) => Value) => Object.fromEntries(rendered.tasks.map(({ task }, number) => [task, valueOf(number)]));
  const coverage = perTask((task) => scorer.coverageOf(task));
  return {
    runDir: context.run.dir,
    state: 'sealed',
    exitCode: exitCodeOf({ rows, coverage, waivers: history.waivers }),
    rows,
    coverage,
    lengthShare: perTask((task) => scorer.lengthShareOf(task)),
    answers: Object.fromEntries(rendered.tasks.flatMap(({ task }, number) => {
      const answers = scorer.answersOf(number);
      return answers ? [[task, answers]] : [];
    })),
    selections: findSelections(rendered.tasks, context.config),
    idle: context.idle.share(),
    warnings: history.warnings.map(({ message }) => message),
  };
}

/** A sealed run is read, not run again. */
export function summarizeSealed(context: RunContext, manifest: Manifest): RunSummary {
  const { rows } = manifest.scores;
  context.ui.onNote(`${context.run.dir} is complete already; nothing was run`);
  const { wallSeconds, computingSeconds, causes } = manifest.idle;
  const coverage = Object.fromEntries(manifest.tasks.map((task) => [task.task, task.coverage]));
  return {
    runDir: context.run.dir,
    state: 'sealed',
    exitCode: exitCodeOf({ rows, coverage, waivers: manifest.waivers }),
    rows,
    coverage,
    lengthShare: Object.fromEntries(manifest.tasks.map(({ task, lengthShare }) => [task, lengthShare])),
    answers: Object.fromEntries(manifest.tasks.map(({ task, answers }) => [task, answers])),
    selections: findSelections(manifest.tasks, manifest.config),
    idle: { wallSeconds, computingSeconds, idleSeconds: causes as RunSummary['idle']['idleSeconds'] },
    warnings: manifest.warnings.map(({ message }) => message),
  };
}
