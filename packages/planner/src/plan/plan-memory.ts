// Fits a drafted plan into memory: how much one rank may take, how large the KV cache is, and whether the batch must shrink.
import { formatBytes, GIB, MIB } from '@assay/domain';
import { kvBytesOfSequence, kvBytesPerToken } from '../model/kv-cache.ts';
import type { MemoryKind } from '../memory/memory-kind.ts';
import { estimateMemory, type MemoryEstimate, rawShareOfLogits } from '../memory/memory.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { MIN_BATCHED_TOKENS, MIN_SEQS } from './plan-batch.ts';
import type { PlanWishes } from './plan-wishes.ts';
import type { Plan } from '../plan.ts';
import { type MemoryResiduals, transientBytesOf } from '../memory/residual.ts';
import { isCacheKnown } from './unknown-terms.ts';
import type { Workload } from '../requests/workload.ts';

export type PlanDraft = Omit<Plan, 'kvCacheBytes' | 'minKvCacheBytes' | 'memory' | 'facts' | 'workload'>;

interface FitInput {
  draft: PlanDraft;
  facts: ModelFacts;
  wishes: PlanWishes;
  workload: Workload;
  kind: MemoryKind;
  residuals: MemoryResiduals | undefined;
}

/** What became of a draft: a plan, and how its prediction stands to the limit. */
export interface Fit {
  plan: Plan;
  /** tight: the prediction is beyond the limit, yet close enough that the probe decides. */
  verdict: 'fits' | 'tight' | 'too_large';
  /** What is beyond the limit; 0 where it fits. */
  missingBytes: number;
}

// On CPU a prediction beyond the limit by less than this is left to the probe, which costs seconds there; beyond it the batch
// shrinks unasked. A GPU's limit is a share of it already, and a load that fails takes minutes.
const TRUSTED_EXCESS = { cpu: 1.25, cuda: 1.03 } as const;
// Weights and engine are known better than a step's peak, and nothing lowers them.
const TRUSTED_FIXED_EXCESS = 1.05;
// Room for a request longer than the longest by the engine's own extra token and block rounding.
const SPARE_TOKENS = 128;

/** The draft with a KV cache, its batch shrunk as far as memory asks for and the user allows. */
export function fitMemory(input: FitInput): Fit {
  let plan = sizeCache({ ...input.draft, why: [...input.draft.why] }, input);
  const shrunk: Record<string, string> = {};
  while (isOverLimit(plan) || crowdsCache(plan, input)) {
    const smaller = shrinkBatch(plan, input.wishes);
    if (!smaller || (!isOverLimit(plan) && smaller.maxNumBatchedTokens === undefined)) break;
    Object.assign(shrunk, explainShrinking(plan, smaller));
    const { maxNumSeqs, maxNumBatchedTokens } = { ...plan, ...smaller };
    const kept = input.draft.why.filter((line) => !Object.keys(shrunk).some((option) => line.startsWith(`${option}=`)));
    plan = sizeCache({ ...input.draft, why: [...kept, ...Object.values(shrunk)], maxNumSeqs, maxNumBatchedTokens }, input);
  }
  return judge(plan);
}

const OPTION_NAMES = { maxNumSeqs: 'max_num_seqs', maxNumBatchedTokens: 'max_num_batched_tokens' } as const;
type BatchLimit = keyof typeof OPTION_NAMES;

/** By the engine's name of the limit that was lowered. */
function explainShrinking(plan: Plan, smaller: Partial<Record<BatchLimit, number>>): Record<string, string> {
  const because = isOverLimit(plan)
    ? `would take about ${formatBytes(plan.memory.totalBytes)} of ${formatBytes(plan.memoryLimitBytes)}`
    : `would leave only ${formatBytes(plan.kvCacheBytes)} for the KV cache`;
  return Object.fromEntries((Object.entries(smaller) as [BatchLimit, number][]).map(([limit, value]) => [OPTION_NAMES[limit], `${OPTION_NAMES[limit]}=${value}: ${plan[limit]} ${because}`]));
}

/** True where the batch is to shrink. The smaller a GPU's step, the less is there to save, and the more is left to the probe. */
function isOverLimit(plan: Plan): boolean {
  const { device, memory, memoryLimitBytes, maxNumBatchedTokens } = plan;
  const trusted = device === 'cuda' && maxNumBatchedTokens > ROOMY_TOKENS ? 1 : TRUSTED_EXCESS[device];
  return memory.totalBytes > trusted * memoryLimitBytes || (device === 'cuda' && lacksRoomForLogits(plan));
}

/** True where what a step leaves is less than its bare logits, whose size is arithmetic and needs no probe. */
function lacksRoomForLogits({ memory: { terms, totalBytes }, memoryLimitBytes, dtype }: Plan): boolean {
  const rows = Math.max(terms.logits, terms.promptLogprobs);
  const lasting = totalBytes - transientBytesOf(terms);
  return lasting <= memoryLimitBytes && totalBytes - rows + rows * rawShareOfLogits(dtype) > memoryLimitBytes;
}

// Fewer tokens a step than these slow prefill down more than a larger cache speeds decoding up.
const ROOMY_TOKENS = 2048;

/** True where a step's buffers take more of a GPU than a cache that generations have too little of. */
function crowdsCache({ device, memory: { terms }, kvCacheBytes, maxNumBatchedTokens, kvElementBytes, tensor, pipeline }: Plan, { draft, facts, wishes, workload }: FitInput): boolean {
  if (device === 'cpu' || wishes.kvCacheBytes !== undefined || workload.newTokens === 0 || maxNumBatchedTokens <= ROOMY_TOKENS) return false;
  const wanted = (kvBytesPerToken(facts, kvElementBytes, tensor) * workload.concurrentTokens(draft.maxNumSeqs)) / pipeline;
  return kvCacheBytes < Math.min(wanted, transientBytesOf(terms));
}

/** Half of a limit that the user left open: of the tokens first, since fewer sequences slow decoding; on CPU of nothing else. */
function shrinkBatch({ device, determinism, maxNumSeqs, maxNumBatchedTokens }: Plan, wishes: PlanWishes): Partial<Record<BatchLimit, number>> | undefined {
  const halfTokens = Math.floor(maxNumBatchedTokens / 2);
  if (wishes.maxNumBatchedTokens === undefined && halfTokens >= Math.max(MIN_BATCHED_TOKENS, maxNumSeqs)) return { maxNumBatchedTokens: halfTokens };
  const mayShrink = device === 'cuda' && determinism !== 'isolated' && wishes.maxNumSeqs === undefined && maxNumSeqs > MIN_SEQS;
  return mayShrink ? { maxNumSeqs: Math.floor(maxNumSeqs / 2) } : undefined;
}

const roundUp = (bytes: number, unit: number): number => Math.max(1, Math.ceil(bytes / unit)) * unit;

/** On CPU whole GiB, since what a host has to spare keeps prefixes longer; less where those alone would not leave room for the model. */
function cacheUnit({ device, memoryLimitBytes }: PlanDraft, fixedBytes: number, minKvCacheBytes: number): number {
  return device === 'cpu' && fixedBytes + roundUp(minKvCacheBytes, GIB) <= memoryLimitBytes * TRUSTED_FIXED_EXCESS ? GIB : MIB;
}

function sizeCache(draft: PlanDraft, input: FitInput): Plan {
  const { facts, wishes, workload } = input;
  const estimate = (kvCacheBytes: number) => estimateOf({ ...draft, kvCacheBytes }, input);
  const { totalBytes, terms } = estimate(0);
  const free = draft.memoryLimitBytes - totalBytes;
  const maxModelLen = shrinkWindow(draft, input, free);
  const perRank = (tokens: number) => (kvBytesPerToken(facts, draft.kvElementBytes, draft.tensor) * tokens) / draft.pipeline;
  const oneRequest = kvBytesOfSequence(facts, { tokens: maxModelLen, elementBytes: draft.kvElementBytes, tensor: draft.tensor, stepTokens: draft.maxNumBatchedTokens });
  const minKvCacheBytes = roundUp(oneRequest / draft.pipeline, MIB);
  const unit = cacheUnit(draft, terms.weights + terms.context, minKvCacheBytes);
  const isKnown = isCacheKnown(facts) || wishes.kvCacheBytes !== undefined;
  const wanted = isKnown ? wishes.kvCacheBytes ?? perRank(concurrentTokens(draft, workload)) : Infinity;
  const least = roundUp(minKvCacheBytes, unit);
  const most = Math.floor(free / unit) * unit;
  const kvCacheBytes = wishes.kvCacheBytes === undefined ? Math.max(least, Math.min(roundUp(wanted, unit), most)) : Math.max(minKvCacheBytes, roundUp(wanted, MIB));
  const why = [...draft.why];
  if (maxModelLen < draft.maxModelLen) why.push(`max_model_len=${maxModelLen}: no request is longer, and a cache for ${draft.maxModelLen} does not fit`);
  if (wishes.kvCacheBytes === undefined) why.push(explainCache({ device: draft.device, kvCacheBytes, wanted: roundUp(wanted, unit), minKvCacheBytes: least }));
  const { concurrentTokens: _, ...summary } = planningWorkload(draft, workload);
  const isCacheLeftToEngine = !isKnown && draft.device === 'cuda';
  return { ...draft, maxModelLen, kvCacheBytes, minKvCacheBytes, ...(isCacheLeftToEngine ? { isCacheLeftToEngine } : {}), why, facts, workload: summary, memory: estimate(kvCacheBytes) };
}

function estimateOf(plan: PlanDraft & { kvCacheBytes: number }, { facts, workload, kind, residuals }: FitInput): MemoryEstimate {
  return estimateMemory({ facts, plan, workload: planningWorkload(plan, workload), kind, residuals });
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

function explainCache({ device, kvCacheBytes, wanted, minKvCacheBytes }: Pick<Plan, 'device' | 'kvCacheBytes' | 'minKvCacheBytes'> & { wanted: number }): string {
  const size = `KV cache ${formatBytes(kvCacheBytes)}`;
  if (wanted === Infinity) return `${size}: all that memory leaves, since what a token takes of it is not known${device === 'cuda' ? '; the engine measures how much that is' : ''}`;
  if (kvCacheBytes < wanted) return `${size}: all that memory leaves; ${formatBytes(wanted)} would hold the longest requests that run together`;
  if (kvCacheBytes === minKvCacheBytes && wanted <= minKvCacheBytes) return `${size}: enough for one request of the whole window and for this run's own`;
  return `${size}: enough for the longest requests that run together`;
}

function judge(plan: Plan): Fit {
  const { weights, context } = plan.memory.terms;
  const least = weights + context + plan.minKvCacheBytes;
  const missingBytes = Math.max(0, plan.memory.totalBytes - plan.memoryLimitBytes);
  if (least > plan.memoryLimitBytes * TRUSTED_FIXED_EXCESS) return { plan, verdict: 'too_large', missingBytes: Math.max(missingBytes, least - plan.memoryLimitBytes) };
  return { plan, verdict: missingBytes > 0 ? 'tight' : 'fits', missingBytes };
}

/** Which terms exceed the limit, for the refusal of a plan that is too large. */
export function describeExcess({ memory: { terms }, minKvCacheBytes, memoryLimitBytes }: Plan): string {
  return `weights ${formatBytes(terms.weights)}, engine ${formatBytes(terms.context)} and the smallest KV cache ${formatBytes(minKvCacheBytes)} exceed the ${formatBytes(memoryLimitBytes)} of one worker`;
}
