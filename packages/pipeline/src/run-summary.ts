// What a run comes to, for whoever asked for it.
import { EXIT_CODES } from '@assay/domain';
import type { Manifest, MetricRow, Rendered } from '@assay/protocol';
import type { RunSummary } from './observer.ts';
import type { RunContext } from './run-context.ts';
import type { Scorer } from './stages/score.ts';

export function summarizeRun(context: RunContext, scorer: Scorer, { rendered, rows }: { rendered: Rendered; rows: readonly MetricRow[] }): RunSummary {
  const perTask = <Value>(valueOf: (task: number) => Value) => Object.fromEntries(rendered.tasks.map(({ task }, number) => [task, valueOf(number)]));
  return {
    runDir: context.run.dir,
    state: 'sealed',
    exitCode: rows.some(({ error }) => error) ? EXIT_CODES.incomplete : EXIT_CODES.done,
    rows,
    coverage: perTask((task) => scorer.coverageOf(task)),
    lengthShare: perTask((task) => scorer.lengthShareOf(task)),
    idle: context.idle.share(),
    warnings: context.events.history.warnings.map(({ message }) => message),
  };
}

/** A sealed run is read, not run again. */
export function summarizeSealed(context: RunContext, manifest: Manifest): RunSummary {
  const { rows } = manifest.scores;
  context.ui.onNote(`${context.run.dir} is complete already; nothing was run`);
  const { wallSeconds, computingSeconds, causes } = manifest.idle;
  return {
    runDir: context.run.dir,
    state: 'sealed',
    exitCode: rows.some(({ error }) => error) || manifest.waivers.length > 0 ? EXIT_CODES.incomplete : EXIT_CODES.done,
    rows,
    coverage: Object.fromEntries(manifest.tasks.map(({ task, coverage }) => [task, coverage])),
    lengthShare: Object.fromEntries(manifest.tasks.map(({ task, lengthShare }) => [task, lengthShare])),
    idle: { wallSeconds, computingSeconds, idleSeconds: causes as RunSummary['idle']['idleSeconds'] },
    warnings: manifest.warnings.map(({ message }) => message),
  };
}
