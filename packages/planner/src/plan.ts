// A plan: how the model and the batches of one run lie on the devices. Everything in it is chosen, nothing is measured.
import type { Determinism, PlanLayout } from '@assay/domain';
import type { RunDtype } from './model/dtypes.ts';
import type { MemoryEstimate, MemoryPlan } from './memory/memory.ts';
import type { ModelFacts } from './model/model-facts.ts';
import type { WorkloadSummary } from './requests/workload.ts';

export interface Plan extends PlanLayout, MemoryPlan {
  dtype: RunDtype;
  determinism: Determinism;
  /** The engine refuses a cache that cannot hold one request of `maxModelLen`. */
  minKvCacheBytes: number;
  kvElementBytes: number;
  /** GPUs only: `kvCacheBytes` is what the engine is expected to find free, and not told. */
  isCacheLeftToEngine?: boolean;
  /** Tensor sizes that the model's shape, these devices and the user allow. */
  tensorSizes: number[];
  /** What else a rung may do with the devices; absent on CPU. */
  rungRoom?: RungRoom;
  memory: MemoryEstimate;
  /** What the estimate was made from, so that a rung can be estimated anew. */
  facts: ModelFacts;
  workload: WorkloadSummary;
}

/** The devices that rungs may lay a model over, and how. */
export interface RungRoom {
  /** All that the run has leased, in use or not. */
  deviceIds: string[];
  maxPipeline: number;
  /** The user asked for this many replicas. */
  keepsData: boolean;
}

const FIELDS: Readonly<Record<Exclude<keyof Plan, 'cpuOffloadBytes' | 'isCacheLeftToEngine' | 'rungRoom'>, true>> = {
  device: true, determinism: true, data: true, tensor: true, pipeline: true, maxNumSeqs: true, maxNumBatchedTokens: true, maxModelLen: true,
  kvCacheBytes: true, minKvCacheBytes: true, kvElementBytes: true, enforceEager: true, enablePrefixCaching: true, dtype: true, threadsPerWorker: true,
  cpuSets: true, deviceSets: true, tensorSizes: true, memoryLimitBytes: true, memory: true, facts: true, workload: true, why: true,
};

/** True where every field of a plan is there: what a file held may have been changed. */
export function isPlan(value: unknown): value is Plan {
  return typeof value === 'object' && value !== null && Object.keys(FIELDS).every((field) => field in value);
}

/** Tokens that the KV cache of one replica holds. */
export function kvCacheTokens(plan: Pick<Plan, 'kvCacheBytes' | 'memory' | 'pipeline'>): number {
  const perToken = plan.memory.kvBytesPerToken / plan.pipeline;
  return perToken > 0 ? Math.floor(plan.kvCacheBytes / perToken) : 0;
}

/** Longest requests that the memory beside the other terms could hold. */
export function sequencesHeld({ memory, memoryLimitBytes, kvCacheBytes, pipeline, workload }: Plan): number {
  const bytes = kvCacheBytes + Math.max(0, memoryLimitBytes - memory.totalBytes);
  const perSequence = (memory.kvBytesPerToken * Math.max(1, workload.longestTokens)) / pipeline;
  return perSequence > 0 ? Math.max(1, Math.floor(bytes / perSequence)) : 0;
}

/** Two plans are the same where the engine could not tell them apart. */
export function isSamePlan(a: Plan, b: Plan): boolean {
  const fields = [
    'data', 'tensor', 'pipeline', 'maxNumSeqs', 'maxNumBatchedTokens', 'maxModelLen', 'kvCacheBytes', 'kvElementBytes', 'enforceEager',
    'enablePrefixCaching', 'dtype', 'threadsPerWorker', 'cpuOffloadBytes', 'isCacheLeftToEngine',
  ] as const;
  // On a GPU the limit is the share that the engine is told.
  return fields.every((field) => a[field] === b[field]) && (a.device === 'cpu' || a.memoryLimitBytes === b.memoryLimitBytes);
}
