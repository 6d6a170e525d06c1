// The next smaller neighbour of a plan that ran out of memory. Invariant: never a plan that was tried, and never one that
// leaves the failing term as it was.
import { formatBytes, GIB } from '@assay/domain';
import type { Failure } from '@assay/protocol';
import { estimateMemory, type MemoryEstimate } from './memory.ts';
import { MIN_BATCHED_TOKENS } from './plan-batch.ts';
import { isSamePlan, type Plan } from './plan.ts';

type FailingTerm = NonNullable<Failure['where']>;

interface Rung {
  name: string;
  /** Terms that this rung can lower, or make room for. */
  helps: readonly FailingTerm[];
  /** The plan one step down, or undefined at the end of this rung. */
  step(plan: Plan): Partial<Plan> | undefined;
}

/** In the order in which they are tried: the cheapest for speed and for the results first. */
const RUNGS: readonly Rung[] = [
  { name: 'fewer batched tokens', helps: ['activation', 'logits'], step: halveTokens },
  { name: 'fewer sequences', helps: ['logits', 'activation', 'graph'], step: halveSequences },
  { name: 'no compiled graphs', helps: ['graph'], step: (plan) => (plan.enforceEager || plan.device === 'cpu' ? undefined : { enforceEager: true }) },
  { name: 'a smaller KV cache', helps: ['kv', 'activation', 'logits', 'graph'], step: shrinkCache },
  { name: 'twice the tensor ranks', helps: ['weights', 'kv', 'activation', 'logits', 'graph'], step: doubleTensor },
  { name: 'twice the pipeline stages', helps: ['weights', 'kv'], step: doublePipeline },
];

/** The next plan to try after `failure`, or undefined where none is left. `tried`: every plan that failed, `plan` among them or not. */
export function nextRung(plan: Plan, failure: Pick<Failure, 'where'>, tried: readonly Plan[]): Plan | undefined {
  const { where } = failure;
  for (const rung of RUNGS) {
    if (where !== undefined && !rung.helps.includes(where)) continue;
    const next = descend(rung, plan, where, [...tried, plan]);
    if (next) return next;
  }
  return undefined;
}

/** Goes down one rung as far as it takes to lower the failing term: half of a limit that was not reached lowers nothing. */
function descend(rung: Rung, plan: Plan, where: FailingTerm | undefined, failed: readonly Plan[]): Plan | undefined {
  let current = plan;
  for (let change = rung.step(current); change !== undefined; change = rung.step(current)) {
    const changed = { ...current, ...change };
    const { facts, workload, memory } = changed;
    current = { ...changed, memory: estimateMemory({ facts, plan: changed, workload, kind: memory.kind, residuals: memory.residuals }) };
    const isNew = !failed.some((other) => isSamePlan(other, current));
    if (isNew && lowers(current.memory, plan.memory, where)) {
      return { ...current, why: [...plan.why, describeRung(rung.name, where, plan, current)] };
    }
  }
  return undefined;
}

/** True where the failing term, or the total for want of one, is smaller. A smaller cache makes room for any term. */
function lowers(next: MemoryEstimate, previous: MemoryEstimate, where: FailingTerm | undefined): boolean {
  if (where === undefined || next.terms.kv < previous.terms.kv) return next.totalBytes < previous.totalBytes;
  return termBytes(next, where) < termBytes(previous, where);
}

function termBytes({ terms }: MemoryEstimate, where: FailingTerm): number {
  if (where === 'logits') return Math.max(terms.logits, terms.promptLogprobs);
  return where === 'graph' ? terms.graphs : terms[where];
}

function describeRung(name: string, where: FailingTerm | undefined, from: Plan, to: Plan): string {
  const changes = [
    from.maxNumBatchedTokens !== to.maxNumBatchedTokens && `max_num_batched_tokens ${from.maxNumBatchedTokens} → ${to.maxNumBatchedTokens}`,
    from.maxNumSeqs !== to.maxNumSeqs && `max_num_seqs ${from.maxNumSeqs} → ${to.maxNumSeqs}`,
    from.kvCacheBytes !== to.kvCacheBytes && `KV cache ${formatBytes(from.kvCacheBytes)} → ${formatBytes(to.kvCacheBytes)}`,
    from.enforceEager !== to.enforceEager && 'eager',
    from.tensor !== to.tensor && `tensor ${from.tensor} → ${to.tensor}, data ${from.data} → ${to.data}`,
    from.pipeline !== to.pipeline && `pipeline ${from.pipeline} → ${to.pipeline}, data ${from.data} → ${to.data}`,
  ].filter((change) => change !== false);
  return `out of memory${where ? ` (${where})` : ''}: ${name}, ${changes.join(', ')}`;
}

function halveTokens(plan: Plan): Partial<Plan> | undefined {
  const maxNumBatchedTokens = Math.floor(plan.maxNumBatchedTokens / 2);
  // Fewer tokens than sequences is refused by the engine; fewer sequences is the next rung's business.
  return maxNumBatchedTokens >= Math.max(MIN_BATCHED_TOKENS, plan.maxNumSeqs) ? { maxNumBatchedTokens } : undefined;
}

function halveSequences(plan: Plan): Partial<Plan> | undefined {
  return plan.maxNumSeqs > 1 ? { maxNumSeqs: Math.floor(plan.maxNumSeqs / 2) } : undefined;
}

function shrinkCache(plan: Plan): Partial<Plan> | undefined {
  const half = plan.device === 'cpu' ? Math.ceil(plan.kvCacheBytes / 2 / GIB) * GIB : Math.ceil(plan.kvCacheBytes / 2);
  const kvCacheBytes = Math.max(plan.minKvCacheBytes, half);
  return kvCacheBytes < plan.kvCacheBytes ? { kvCacheBytes } : undefined;
}

function doubleTensor(plan: Plan): Partial<Plan> | undefined {
  const tensor = plan.tensor * 2;
  if (plan.device === 'cpu' || plan.data < 2 || !plan.tensorSizes.includes(tensor)) return undefined;
  return { tensor, ...regroup(plan, tensor * plan.pipeline) };
}

function doublePipeline(plan: Plan): Partial<Plan> | undefined {
  const pipeline = plan.pipeline * 2;
  // Layers that are not known (0) refuse nothing.
  if (plan.device === 'cpu' || plan.data < 2 || (plan.facts.layers > 0 && pipeline > plan.facts.layers)) return undefined;
  return { pipeline, ...regroup(plan, plan.tensor * pipeline) };
}

/** Half as many replicas over the same devices, each of `ranks`. */
function regroup(plan: Plan, ranks: number): Pick<Plan, 'data' | 'deviceSets'> {
  const data = Math.floor(plan.data / 2);
  const devices = plan.deviceSets.flat();
  return { data, deviceSets: Array.from({ length: data }, (_, replica) => devices.slice(replica * ranks, (replica + 1) * ranks)) };
}
