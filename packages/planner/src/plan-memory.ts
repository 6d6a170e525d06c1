// Fits a drafted plan into memory: how much one rank may take, how large the KV cache is, and whether the batch must shrink.
import { AssayError, formatBytes, GIB } from '@assay/domain';
import { kvBytesOfSequence, kvBytesPerToken } from './kv-cache.ts';
import { estimateMemory, type MemoryEstimate, type MemoryKind } from './memory.ts';
import type { ModelFacts } from './model-facts.ts';
import { MIN_BATCHED_TOKENS } from './plan-batch.ts';
import type { PlanWishes } from './plan-wishes.ts';
import type { Plan } from './plan.ts';
import type { Workload } from './workload.ts';

export type PlanDraft = Omit<Plan, 'kvCacheBytes' | 'minKvCacheBytes' | 'memory' | 'facts' | 'workload'>;

interface FitInput {
  draft: PlanDraft;
  facts: ModelFacts;
  wishes: PlanWishes;
  workload: Workload;
  kind: MemoryKind;
  residualBytes: number;
}

// A prediction beyond the limit by less than this is left to the probe, which measures; beyond it the batch shrinks unasked.
const TRUSTED_EXCESS = 1.25;
// Weights and engine are known better than a step's peak, and nothing lowers them.
const TRUSTED_FIXED_EXCESS = 1.05;
// Room for a request longer than the longest by the engine's own extra token and block rounding.
const SPARE_TOKENS = 128;

/** Throws PLAN_IMPOSSIBLE where even the smallest cache leaves no way. */
export function fitMemory(input: FitInput): Plan {
  let plan = sizeCache({ ...input.draft, why: [...input.draft.why] }, input);
  while (input.wishes.maxNumBatchedTokens === undefined && plan.memory.totalBytes > TRUSTED_EXCESS * plan.memoryLimitBytes) {
    const maxNumBatchedTokens = Math.floor(plan.maxNumBatchedTokens / 2);
    if (maxNumBatchedTokens < Math.max(MIN_BATCHED_TOKENS, plan.maxNumSeqs)) break;
    const reason = `max_num_batched_tokens=${maxNumBatchedTokens}: ${plan.maxNumBatchedTokens} would take about ${formatBytes(plan.memory.totalBytes)} of ${formatBytes(plan.memoryLimitBytes)}`;
    const why = [...input.draft.why.filter((line) => !line.startsWith('max_num_batched_tokens=')), reason];
    plan = sizeCache({ ...input.draft, why, maxNumBatchedTokens }, input);
  }
  refuseHopeless(plan);
  return plan;
}

function sizeCache(draft: PlanDraft, input: FitInput): Plan {
  const { facts, wishes, workload } = input;
  const estimate = (kvCacheBytes: number) => estimateOf({ ...draft, kvCacheBytes }, input);
  const free = draft.memoryLimitBytes - estimate(0).totalBytes;
  const maxModelLen = shrinkWindow(draft, input, free);
  const round = draft.device === 'cpu' ? (bytes: number) => Math.max(1, Math.ceil(bytes / GIB)) * GIB : Math.ceil;
  const perRank = (tokens: number) => (kvBytesPerToken(facts, draft.kvElementBytes, draft.tensor) * tokens) / draft.pipeline;
  const oneRequest = kvBytesOfSequence(facts, { tokens: maxModelLen, elementBytes: draft.kvElementBytes, tensor: draft.tensor, stepTokens: draft.maxNumBatchedTokens });
  const minKvCacheBytes = round(oneRequest / draft.pipeline);
  const wanted = wishes.kvCacheBytes ?? perRank(concurrentTokens(draft, workload));
  const most = draft.device === 'cpu' ? Math.floor(free / GIB) * GIB : free;
  const kvCacheBytes = Math.max(minKvCacheBytes, Math.min(round(wanted), wishes.kvCacheBytes === undefined ? most : Infinity));
  const why = [...draft.why];
  if (maxModelLen < draft.maxModelLen) why.push(`max_model_len=${maxModelLen}: no request is longer, and a cache for ${draft.maxModelLen} does not fit`);
  if (wishes.kvCacheBytes === undefined) why.push(explainCache({ kvCacheBytes, wanted: round(wanted), minKvCacheBytes }));
  const { concurrentTokens: _, ...summary } = planningWorkload(draft, workload);
  return { ...draft, maxModelLen, kvCacheBytes, minKvCacheBytes, why, facts, workload: summary, memory: estimate(kvCacheBytes) };
}

function estimateOf(plan: PlanDraft & { kvCacheBytes: number }, { facts, workload, kind, residualBytes }: FitInput): MemoryEstimate {
  return estimateMemory({ facts, plan, workload: planningWorkload(plan, workload), kind, residualBytes });
}

/** In isolated no choice may depend on the other requests, so the window stands for the longest. */
function planningWorkload({ determinism, maxModelLen }: PlanDraft, workload: Workload): Workload {
  if (determinism !== 'isolated') return workload;
  return { ...workload, longestTokens: maxModelLen, longestScoredTokens: workload.longestScoredTokens > 0 ? maxModelLen : 0 };
}

/** Generations hold their cache for long, so the longest that run together count; scored prompts leave with their step. */
function concurrentTokens(draft: PlanDraft, workload: Workload): number {
  const scored = workload.longestScoredTokens === 0 ? 0 : draft.maxNumBatchedTokens + workload.longestScoredTokens;
  return Math.max(workload.concurrentTokens(draft.maxNumSeqs), scored) + SPARE_TOKENS;
}

function shrinkWindow(draft: PlanDraft, { facts, wishes, workload }: FitInput, freeBytes: number): number {
  const bytes = kvBytesOfSequence(facts, { tokens: draft.maxModelLen, elementBytes: draft.kvElementBytes, tensor: draft.tensor }) / draft.pipeline;
  if (wishes.maxModelLen !== undefined || bytes <= Math.max(freeBytes, GIB)) return draft.maxModelLen;
  return Math.min(draft.maxModelLen, workload.longestTokens + SPARE_TOKENS);
}

function explainCache({ kvCacheBytes, wanted, minKvCacheBytes }: { kvCacheBytes: number; wanted: number; minKvCacheBytes: number }): string {
  const size = `KV cache ${formatBytes(kvCacheBytes)}`;
  if (kvCacheBytes < wanted) return `${size}: all that memory leaves; ${formatBytes(wanted)} would hold the longest requests that run together`;
  if (kvCacheBytes === minKvCacheBytes && wanted <= minKvCacheBytes) return `${size}: enough for one request of the whole window and for this run's own`;
  return `${size}: enough for the longest requests that run together`;
}

function refuseHopeless(plan: Plan): void {
  const { weights, context } = plan.memory.terms;
  const least = weights + context + plan.minKvCacheBytes;
  if (least <= plan.memoryLimitBytes * TRUSTED_FIXED_EXCESS) return;
  throw new AssayError('PLAN_IMPOSSIBLE', {
    problem: `weights ${formatBytes(weights)}, engine ${formatBytes(context)} and the smallest KV cache ${formatBytes(plan.minKvCacheBytes)} exceed the ${formatBytes(plan.memoryLimitBytes)} of one worker`,
    instead: 'Use fewer replicas, a smaller or quantised model, a lower max_model_len, or more memory.',
  });
}
