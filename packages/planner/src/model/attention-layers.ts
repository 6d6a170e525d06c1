// Which layers keep what for a token: everything, the last few tokens of a window, or a state that does not grow.
import type { ModelConfig } from './model-config.ts';

const WINDOWED = /^(sliding|chunked)_attention$/;
const STATEFUL = /^(linear_attention|mamba2?|conv|recurrent|short_conv)$/;

interface AttentionLayers {
  /** Layers that see only the window. */
  slidingLayers: number;
  /** Tokens of that window; undefined where no layer has one. */
  slidingWindow: number | undefined;
  /** Layers that keep one state of constant size a sequence and no keys and values. */
  recurrentLayers: number;
}

export function readAttentionLayers(config: ModelConfig, layers: number): AttentionLayers {
  const slidingLayers = countSlidingLayers(config, layers);
  const window = config.sliding_window ?? config.attention_chunk_size ?? undefined;
  return {
    slidingLayers,
    slidingWindow: slidingLayers > 0 && window ? window : undefined,
    recurrentLayers: config.layer_types?.filter((kind) => STATEFUL.test(kind)).length ?? 0,
  };
}

// Three generations of config.json: a list of layer kinds, every n-th layer full, or all (but the first few) alike.
function countSlidingLayers(config: ModelConfig, layers: number): number {
  if (config.layer_types) return config.layer_types.filter((kind) => WINDOWED.test(kind)).length;
  if (!config.sliding_window || config.use_sliding_window === false) return 0;
  const pattern = config.sliding_window_pattern ?? (config.model_type === 'gemma2' ? 2 : undefined);
  if (pattern) return layers - Math.floor(layers / pattern);
  return config.use_sliding_window ? Math.max(0, layers - (config.max_window_layers ?? 0)) : layers;
}
