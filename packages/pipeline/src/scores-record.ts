// What the results file gets from here: the settings that the harness cannot know, and our own facts beside lm_eval's.
import type { Plan } from '@assay/planner';
import { findSelections } from '@assay/reports';
import type { RunContext } from './run-context.ts';
import type { Scorer } from './stages/score.ts';
import type { Rendered } from '@assay/protocol';

interface ScoresRecord {
  date: string;
  config: Record<string, unknown>;
  extra: Record<string, unknown>;
}

export function describeScores(context: RunContext, { rendered, scorer, plan }: { rendered: Rendered; scorer: Scorer; plan: Plan }): ScoresRecord {
  const { config, determinism, run } = context;
  const { model, batch_size, device = null } = config;
  return {
    date: new Date().toISOString().replaceAll(':', '-').replace(/Z$/, ''),
    config: { model, batch_size, batch_sizes: [plan.maxNumSeqs], device },
    extra: {
      assay: {
        run: run.header.id, runDir: run.dir, determinism, scoring: config.scoring, waived: rendered.tasks.some((_, task) => scorer.isWaived(task)),
        coverage: Object.fromEntries(rendered.tasks.map(({ task }, number) => [task, scorer.coverageOf(number)])),
        selections: findSelections(rendered.tasks, config),
      },
    },
  };
}
