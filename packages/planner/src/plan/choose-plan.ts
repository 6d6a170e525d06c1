// Chooses the plan of a run: the user's wishes first, then what the tier of determinism demands, then what fits and is fast.
import { AssayError } from '@assay/domain';
import type { Candidate } from './candidate.ts';
import { listCandidates } from './candidates.ts';
import { requireDivisible } from '../model/divisibility.ts';
import type { NodeFacts } from '../node/node-facts.ts';
import type { Layout } from './plan-devices.ts';
import { type PlanBasis, type PlanInput, readBasis } from './plan-draft.ts';
import { describeExcess } from './plan-memory.ts';
import type { Plan } from '../plan.ts';
import { suggestSmaller } from './suggest-smaller.ts';

export interface PlanChoice {
  node: NodeFacts;
  /** Undefined where no candidate may be taken. */
  plan: Plan | undefined;
  /** Best first. */
  candidates: readonly Candidate[];
  /** Why there is no plan. */
  refusal: AssayError | undefined;
}

/** Throws PLAN_IMPOSSIBLE where nothing that was allowed fits. */
export function choosePlan(input: PlanInput): Plan {
  const { plan, refusal } = explainPlan(input);
  if (plan === undefined) throw refusal;
  return plan;
}

/** Every candidate and the chosen one. Throws only where a wish contradicts another, the tier or the model's shape. */
export function explainPlan(input: PlanInput): PlanChoice {
  const basis = readBasis(input);
  const { tensor = 1, pipeline = 1 } = basis.wishes;
  requireDivisible(basis.facts, { tensor, pipeline });
  const candidates = listCandidates(basis);
  const chosen = candidates.find(({ isChosen }) => isChosen);
  const plan = chosen?.plan && { ...chosen.plan, why: [...explainLayout(basis, chosen), ...chosen.plan.why] };
  return { node: input.node, plan, candidates, refusal: plan ? undefined : refuse(basis, candidates) };
}

/** On CPU the layout's own reasons say it already. */
function explainLayout(basis: PlanBasis, { data, tensor, pipeline }: Layout): string[] {
  const { device, wishes, input: { node } } = basis;
  const isAsked = wishes.tensor !== undefined;
  if (device === 'cpu' || (isAsked && wishes.data !== undefined)) return [];
  const gpus = node.gpus.length;
  const isLimited = data === basis.workload.requests;
  const spare = isLimited ? 0 : gpus - data * tensor * pipeline;
  if (gpus === 1) return [];
  const first = tensor * pipeline === 1
    ? `the model fits one GPU: ${data} ${data === 1 ? 'replica' : 'replicas'} rather than one over ${gpus} tensor ranks`
    : `tensor=${tensor}, pipeline=${pipeline}: the smallest split that fits, divides the heads and is not much slower than a larger one`;
  return [...(isAsked ? [] : [first]), ...(spare > 0 && wishes.data === undefined ? [`${spare} of ${gpus} GPUs stay free: no faster layout uses them`] : [])];
}

function refuse(basis: PlanBasis, candidates: readonly Candidate[]): AssayError {
  const nearest = candidates.find(({ verdict }) => verdict === 'too_large');
  if (!nearest?.plan) {
    const [problem, ...rest] = (candidates[0]?.lost ?? 'no layout is possible').split('. ');
    return new AssayError('PLAN_IMPOSSIBLE', { problem: problem ?? '', instead: rest.join('. ') });
  }
  return new AssayError('PLAN_IMPOSSIBLE', { problem: describeExcess(nearest.plan), instead: suggestSmaller(basis, nearest) });
}
