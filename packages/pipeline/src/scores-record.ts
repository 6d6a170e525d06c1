// What we add to lm_eval's results file: its own configuration keys, and ours beside them.
import type { Plan } from '@assay/planner';
import type { RunContext } from './run-context.ts';
import type { Scorer } from './stages/score.ts';
import type { Rendered } from '@assay/protocol';

interface ScoresRecord {
  date: string;
  config: Record<string, unknown>;
  extra: Record<string, unknown>;
}

export function describeScores(context: RunContext, { rendered, scorer, plan, waived }: { rendered: Rendered; scorer: Scorer; plan: Plan; waived: boolean }): ScoresRecord {
  const { config, determinism, run } = context;
  const { model_args, batch_size, gen_kwargs, limit, seed, device } = config;
  return {
    date: new Date().toISOString().replaceAll(':', '-').replace(/Z$/, ''),
    config: {
      model: config.model, model_args, batch_size, batch_sizes: [plan.maxNumSeqs], device: device ?? null, use_cache: null, limit: limit ?? null,
      bootstrap_iters: 100_000, gen_kwargs, random_seed: seed.python, numpy_seed: seed.numpy, torch_seed: seed.torch, fewshot_seed: seed.fewshot,
    },
    extra: {
      assay: {
        run: run.header.id, runDir: run.dir, determinism, scoring: config.scoring, waived,
        coverage: Object.fromEntries(rendered.tasks.map(({ task }, number) => [task, scorer.coverageOf(number)])),
      },
    },
  };
}
