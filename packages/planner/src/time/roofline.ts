// How long prompts and answers take from what the devices can do at most: max(compute, memory) of each step, with attention and what
// ranks send each other. Formulas and constants are explained in docs/planning.md.
import type { TimeBound } from '@assay/domain';
import type { DeviceKind } from '../node/device-kinds.ts';
import { speedsOf } from './device-speeds.ts';
import { mostReplicas } from '../limit-replicas.ts';
import { communicate, offloadSeconds } from './link-time.ts';
import { ATTENTION_REACHES, attentionFlops, denseFlopsPerToken, headFlopsPerRow, shareOfWeightsRead } from '../model/model-flops.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Plan } from '../plan.ts';
import type { WorkloadSummary } from '../requests/workload.ts';

export interface RooflineInput {
  facts: ModelFacts;
  plan: Plan;
  kind: DeviceKind;
}

// Scheduling, sampling and kernel launches of one step on a GPU that nothing hides. A guess.
const GPU_STEP_SECONDS = 3e-3;

export interface Phase {
  seconds: number;
  communicationSeconds: number;
  bound: TimeBound;
}

/** isFull: as if there were enough of the same requests to keep every replica and every step full. */
interface Load {
  isFull: boolean;
}

const NOTHING: Phase = { seconds: 0, communicationSeconds: 0, bound: 'none' };

/** All prompts: steps full to max_num_batched_tokens, scored rows also through the output layer. */
export function estimatePrefill(input: RooflineInput, { isFull }: Load): Phase {
  const { facts, plan } = input;
  const { promptTokens, scoredTokens, requests, scoredRequests, promptPairs } = plan.workload;
  const share = 1 / (isFull ? plan.data : busyReplicas(plan));
  const tokens = promptTokens * share;
  if (tokens === 0) return NOTHING;
  const ranks = plan.tensor * plan.pipeline;
  const { flops, bytesPerSecond } = speedsOf(input, 'prefill');
  const rows = (scoredTokens + (requests - scoredRequests)) * share;
  const operations = tokens * denseFlopsPerToken(facts) + rows * headFlopsPerRow(facts) + attentionFlops(facts, promptPairs * share) / ATTENTION_REACHES[plan.device];
  const steps = isFull ? tokens / plan.maxNumBatchedTokens : Math.ceil(tokens / plan.maxNumBatchedTokens);
  const compute = operations / ranks / flops;
  const memory = (steps * readBytes(plan)) / bytesPerSecond + offloadSeconds(input, steps);
  const communicationSeconds = communicate(input, { tokens, steps });
  const overhead = plan.device === 'cuda' ? steps * GPU_STEP_SECONDS : 0;
  // Stages wait while the first steps reach the last one.
  const bubble = isFull ? 1 : (steps + plan.pipeline - 1) / steps;
  return { seconds: (Math.max(compute, memory) + overhead) * bubble + communicationSeconds, communicationSeconds, bound: compute >= memory ? 'compute' : 'memory' };
}

/** All generated tokens, a batch at a time: each step reads the weights once and every sequence's keys and values. */
export function estimateDecode(input: RooflineInput, { isFull }: Load): Phase {
  const { facts, plan } = input;
  const { newTokens } = plan.workload;
  if (newTokens === 0) return NOTHING;
  const sequences = countConcurrent(plan, { isFull });
  const { flops, bytesPerSecond } = speedsOf(input, 'decode');
  const rounds = newTokens / (isFull ? plan.data : busyReplicas(plan)) / sequences;
  // Each stage works on another part of the sequences.
  const batch = sequences / plan.pipeline;
  const held = meanHeldTokens(plan.workload);
  const operations = batch * (denseFlopsPerToken(facts) + headFlopsPerRow(facts)) + attentionFlops(facts, batch * held);
  const compute = operations / plan.tensor / plan.pipeline / flops;
  const weights = readBytes(plan) * shareOfWeightsRead(facts, batch);
  const cache = (batch * held * plan.memory.kvBytesPerToken) / plan.pipeline;
  const memory = (weights + cache) / bytesPerSecond + offloadSeconds(input, 1);
  const steps = rounds * plan.pipeline;
  const communicationSeconds = communicate(input, { tokens: steps * batch, steps });
  const overhead = plan.device === 'cuda' ? GPU_STEP_SECONDS : 0;
  return { seconds: steps * (Math.max(compute, memory) + overhead) + communicationSeconds, communicationSeconds, bound: compute >= memory ? 'compute' : 'memory' };
}

/** Bytes of weights that a rank reads in a step. */
function readBytes({ memory }: Plan): number {
  return memory.terms.weights;
}

const busyReplicas = ({ data, workload }: Plan): number => mostReplicas(data, workload.requests);

/** Sequences that one replica decodes at a time: as many as there are, or at full load as many as memory would hold. */
function countConcurrent(plan: Plan, { isFull }: Load): number {
  const { workload, memory, memoryLimitBytes, maxNumSeqs, pipeline } = plan;
  const generating = workload.requests - workload.scoredRequests;
  const cacheBytes = isFull ? plan.kvCacheBytes + Math.max(0, memoryLimitBytes - memory.totalBytes) : plan.kvCacheBytes;
  const perSequence = (Math.max(1, meanHeldTokens(workload)) * memory.kvBytesPerToken) / pipeline;
  const held = perSequence > 0 ? cacheBytes / perSequence : Infinity;
  const there = isFull ? Infinity : Math.ceil(generating / busyReplicas(plan));
  return Math.max(1, Math.min(maxNumSeqs, held, there));
}

/** Tokens of a generation's context on average over its decoding. */
function meanHeldTokens({ newTokens, decodePairs }: WorkloadSummary): number {
  return newTokens > 0 ? decodePairs / newTokens : 0;
}
