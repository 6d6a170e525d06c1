import type { Plan } from '@assay/planner';
import type { Rendered } from '@assay/protocol';
import { expect, test } from 'vitest';
import type { RunContext } from './run-context.ts';
import { describeScores } from './scores-record.ts';
import type { Scorer } from './stages/score.ts';

test('the harness is told the settings that it cannot know, and no others', () => {
  const config = { model: 'vllm', model_args: { hf_token: 'plain-value' }, batch_size: 'auto', gen_kwargs: {}, limit: 4, scoring: 'exact' };
  const context = { config, determinism: 'fast', run: { dir: '/runs/a', header: { id: 'a' } } } as unknown as RunContext;
  const coverage = { requests: 4, final: 4, answered: 3, share: 0.75 };
  const parts = { rendered: { tasks: [{ task: 't', documents: 4, documentsTotal: 9 }] } as Rendered, scorer: { coverageOf: () => coverage, isWaived: () => true } as unknown as Scorer, plan: { maxNumSeqs: 8 } as Plan };
  const record = describeScores(context, parts);
  expect(record.config).toEqual({ model: 'vllm', batch_size: 'auto', batch_sizes: [8], device: null });
  expect(record.extra).toEqual({ assay: { run: 'a', runDir: '/runs/a', determinism: 'fast', scoring: 'exact', waived: true, coverage: { t: coverage }, selections: { t: { documents: 4, documentsTotal: 9, by: '--limit 4' } } } });
});
