// What candidates are weighed for in tests: large models over published devices, with a mixed load of requests.
import llama70 from '../../fixtures/models/llama-3.1-70b.json' with { type: 'json' };
import mistral from '../../fixtures/models/mistral-7b-v0.1.json' with { type: 'json' };
import { explainPlan, type PlanChoice } from './choose-plan.ts';
import { imagineNode } from '../node/imagined-node.ts';
import { factsOf } from '../model/model-facts-fixture.ts';
import type { PlanInput } from './plan-draft.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

export const llama70b = factsOf(llama70.config, 70_553_706_496);
export const mistral7b = factsOf(mistral.config, 7_241_732_096);

const mixedLoad = buildIndex([
  ...Array.from({ length: 2000 }, () => ({ kind: 'loglikelihood' as const, context: 1500, continuation: 4 })),
  ...Array.from({ length: 1000 }, () => ({ context: 1200, budget: 512 })),
]);

export function explain(devices: string, change: Partial<PlanInput> = {}): PlanChoice {
  return explainPlan({
    plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', node: imagineNode(devices), facts: llama70b, index: mixedLoad, maxModelLen: 8192, ...change,
  });
}

/** "data×tensor×pipeline" of the chosen one. */
export function layoutOf({ plan }: PlanChoice): string | undefined {
  return plan && `${plan.data}×${plan.tensor}×${plan.pipeline}`;
}
