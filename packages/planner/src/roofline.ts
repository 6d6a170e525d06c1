// How long a layout takes, from what its devices can do at most: max(compute, memory) of each step, with attention and what ranks
// send each other. Formulas and constants are explained in docs/planning.md; a factor measured before corrects each part.
import { ATTENTION_REACHES, attentionFlops, denseFlopsPerToken, headFlopsPerRow, shareOfWeightsRead } from './model-flops.ts';
import type { DeviceKind } from './device-kinds.ts';
import { RUN_DTYPE_BYTES } from './dtypes.ts';
import type { ModelFacts } from './model-facts.ts';
import type { Plan } from './plan.ts';
import { estimateStart } from './start-time.ts';
import type { WorkloadSummary } from './workload.ts';

export const TIMED_PARTS = ['start', 'load', 'prefill', 'decode'] as const;
export type TimedPart = (typeof TIMED_PARTS)[number];

/** Measured seconds over predicted ones, by part, 1 where nothing was measured; and of how many runs. */
export type TimeCorrections = Readonly<Partial<Record<TimedPart | 'runs', number>>>;

type Bound = 'compute' | 'memory' | 'none';

export interface TimeEstimate {
  /** Processes and imports. */
  startSeconds: number;
  /** Weights, compilation, cache and graphs: until the engine answers. */
  loadSeconds: number;
  prefillSeconds: number;
  decodeSeconds: number;
  /** Contained in the two above: what ranks send each other. */
  communicationSeconds: number;
  /** Of the whole run but rendering and scoring. */
  wallSeconds: number;
  /** Devices held for that long; cores on CPU. */
  deviceHours: number;
  /**
   * Prefill and decode of this work if there were enough of it to keep every replica full: what layouts are compared by, and
   * therefore without corrections. Which layout a run gets may not depend on what the machine has run before.
   */
  fullLoadSeconds: number;
  /** Earlier runs that the other times are corrected by. */
  correctedBy: number;
  bound: { prefill: Bound; decode: Bound };
}

interface RooflineInput {
  facts: ModelFacts;
  plan: Plan;
  kind: DeviceKind;
  corrections?: TimeCorrections | undefined;
}

/** What share of the peaks engines reach: 0.5 to 0.65 of the operations and 0.6 to 0.8 of the bandwidth are reported for GPUs. */
const REACHED = { flops: 0.55, bandwidth: 0.7 } as const;
// On CPU the figures are measured ones; decoding ran at 830 output tokens a second eager, 1,100 compiled, against 2,850 of prompt.
const CPU_DECODE_SHARE = { eager: 0.29, compiled: 0.39 } as const;
// Scheduling, sampling and kernel launches of one step on a GPU that nothing hides. A guess.
const GPU_STEP_SECONDS = 3e-3;

// Each layer's attention and feed-forward end with a sum over the tensor ranks.
const SUMS_PER_LAYER = 2;

export function estimateTime(input: RooflineInput): TimeEstimate {
  const { plan, kind, corrections = {} } = input;
  const prefill = scale(estimatePrefill(input, { isFull: false }), corrections.prefill);
  const decode = scale(estimateDecode(input, { isFull: false }), corrections.decode);
  const fullLoadSeconds = estimatePrefill(input, { isFull: true }).seconds + estimateDecode(input, { isFull: true }).seconds;
  const { startSeconds, loadSeconds } = estimateStart({ plan, kind, corrections });
  const wallSeconds = startSeconds + loadSeconds + prefill.seconds + decode.seconds;
  return {
    startSeconds, loadSeconds, wallSeconds, fullLoadSeconds,
    correctedBy: corrections.runs ?? 0,
    prefillSeconds: prefill.seconds,
    decodeSeconds: decode.seconds,
    communicationSeconds: prefill.communicationSeconds + decode.communicationSeconds,
    deviceHours: (wallSeconds * countDevices(plan)) / 3600,
    bound: { prefill: prefill.bound, decode: decode.bound },
  };
}

interface Phase {
  seconds: number;
  communicationSeconds: number;
  bound: Bound;
}

/** isFull: as if there were enough of the same requests to keep every replica and every step full. */
interface Load {
  isFull: boolean;
}

const NOTHING: Phase = { seconds: 0, communicationSeconds: 0, bound: 'none' };

function scale(phase: Phase, factor = 1): Phase {
  return { ...phase, seconds: phase.seconds * factor, communicationSeconds: phase.communicationSeconds * factor };
}

function countDevices({ device, data, tensor, pipeline, threadsPerWorker }: Plan): number {
  return data * tensor * pipeline * (device === 'cpu' ? threadsPerWorker : 1);
}

interface Speeds {
  flops: number;
  bytesPerSecond: number;
}

/** Of one rank. */
function speedsOf({ facts, plan, kind }: RooflineInput, phase: 'prefill' | 'decode'): Speeds {
  const flops = peakFlops(facts, plan, kind);
  if (plan.device === 'cuda') return { flops: flops * REACHED.flops, bytesPerSecond: kind.bytesPerSecond * REACHED.bandwidth };
  const share = phase === 'prefill' ? 1 : CPU_DECODE_SHARE[plan.enforceEager ? 'eager' : 'compiled'];
  return { flops: flops * plan.threadsPerWorker * share, bytesPerSecond: kind.bytesPerSecond * plan.threadsPerWorker };
}

// Only weights that are multiplied in 8 bit use those units; GPTQ, AWQ and bitsandbytes unpack to 16 bit first.
const EIGHT_BIT_METHODS = new Set(['fp8', 'compressed-tensors', 'modelopt']);

function peakFlops({ quantization }: ModelFacts, { dtype }: Plan, { flops }: DeviceKind): number {
  if (RUN_DTYPE_BYTES[dtype] === 4) return flops.bits32;
  const isEightBit = quantization?.bits === 8 && EIGHT_BIT_METHODS.has(quantization.method);
  return (isEightBit ? flops.bits8 : undefined) ?? flops.bits16;
}

/** All prompts: steps full to max_num_batched_tokens, scored rows also through the output layer. */
function estimatePrefill(input: RooflineInput, { isFull }: Load): Phase {
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
function estimateDecode(input: RooflineInput, { isFull }: Load): Phase {
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

// Weights that stay on the host cross the bus in every step.
function offloadSeconds({ plan, kind }: RooflineInput, steps: number): number {
  return (steps * (plan.cpuOffloadBytes ?? 0)) / kind.loadBytesPerSecond;
}

/** Bytes of weights that a rank reads in a step. */
function readBytes({ memory }: Plan): number {
  return memory.terms.weights;
}

/** Seconds of sums over tensor ranks (a ring sends 2 (t - 1) / t of the data) and of handing on from stage to stage. */
function communicate({ facts, plan, kind }: RooflineInput, { tokens, steps }: { tokens: number; steps: number }): number {
  const { tensor, pipeline } = plan;
  const { bytesPerSecond, latencySeconds } = kind.link;
  const bytes = tokens * facts.hidden * RUN_DTYPE_BYTES[plan.dtype];
  const sums = (SUMS_PER_LAYER * facts.layers) / pipeline;
  const summing = tensor > 1 ? sums * ((bytes * 2 * (tensor - 1)) / tensor / bytesPerSecond + steps * latencySeconds) : 0;
  const handing = pipeline > 1 ? bytes / bytesPerSecond + steps * latencySeconds : 0;
  return summing + handing;
}

function busyReplicas({ data, workload }: Plan): number {
  return Math.max(1, Math.min(data, workload.requests));
}

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
