// Bytes of the KV cache: per token, per request with sliding windows, per rank with replicated heads.
import type { ModelFacts } from './model-facts.ts';
import { RUN_DTYPE_BYTES, type RunDtype } from './dtypes.ts';

type KvFacts = Pick<ModelFacts, 'layers' | 'kvHeads' | 'headDim' | 'latentDim' | 'slidingWindow' | 'slidingLayers' | 'recurrentLayers'>;

const CACHE_DTYPE_BYTES: Readonly<Record<string, number>> = { fp8: 1, fp8_e4m3: 1, fp8_e5m2: 1 };

/** Bytes of one element of the cache for vLLM's kv_cache_dtype; "auto" is the run's own type. */
export function kvElementBytes(kvCacheDtype: unknown, dtype: RunDtype): number {
  return CACHE_DTYPE_BYTES[String(kvCacheDtype)] ?? RUN_DTYPE_BYTES[dtype];
}

/** KV heads on one rank: heads are replicated where there are more ranks than heads. */
export function kvHeadsPerRank(kvHeads: number, tensor: number): number {
  return Math.max(1, Math.floor(kvHeads / tensor));
}

/** Bytes of one token over all layers, or on one rank of `tensor`, before any sliding window caps it. */
export function kvBytesPerToken(facts: KvFacts, elementBytes: number, tensor = 1): number {
  return attentionLayers(facts) * layerBytes(facts, elementBytes, tensor);
}

// The state of a recurrent layer does not grow with the tokens.
function attentionLayers({ layers, recurrentLayers = 0 }: KvFacts): number {
  return Math.max(0, layers - recurrentLayers);
}

// A latent serves all heads and is not divided by tensor ranks.
function layerBytes(facts: KvFacts, elementBytes: number, tensor: number): number {
  if (facts.latentDim !== undefined) return facts.latentDim * elementBytes;
  return 2 * kvHeadsPerRank(facts.kvHeads, tensor) * facts.headDim * elementBytes;
}

interface SequenceShape {
  tokens: number;
  elementBytes: number;
  tensor?: number;
  /** Tokens that one step adds on top of a sliding window. */
  stepTokens?: number;
}

/** Bytes that one sequence of `tokens` holds: sliding layers keep their window and what one step adds. */
export function kvBytesOfSequence(facts: KvFacts, { tokens, elementBytes, tensor = 1, stepTokens = 0 }: SequenceShape): number {
  const bytes = layerBytes(facts, elementBytes, tensor);
  const sliding = facts.slidingWindow === undefined ? 0 : facts.slidingLayers;
  const kept = Math.min(tokens, (facts.slidingWindow ?? 0) + stepTokens);
  return bytes * ((attentionLayers(facts) - sliding) * tokens + sliding * kept);
}

interface WindowVerdict {
  /** Tokens the engine will accept. */
  window: number;
  warning?: string;
}

/** The window in force: what was asked for, else the model's own. A sliding window limits what layers see, not what is accepted. */
export function resolveWindow(facts: Pick<ModelFacts, 'window' | 'slidingWindow' | 'slidingLayers' | 'layers'>, asked: number | undefined, longest: number): WindowVerdict {
  const window = asked ?? facts.window;
  const { slidingWindow, slidingLayers, layers } = facts;
  if (slidingWindow === undefined || slidingLayers === 0 || Math.min(longest, window) <= slidingWindow) return { window };
  const warning = `${slidingLayers} of ${layers} layers see only the last ${slidingWindow} tokens; the longest request has ${longest}`;
  return { window, warning };
}
