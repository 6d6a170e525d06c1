// The fields of config.json that planning reads, under the names that the families of models have for them. A field of another
// form than expected counts as not there; a text where a number belongs is a mistake and refused.
import { AssayError } from '@assay/domain';
import { z } from 'zod';

const count = z.int().nonnegative();
// Some models give a list, one value a layer: not known here.
const optionalCount = z.union([count, z.null(), z.unknown().refine((value) => typeof value !== 'string', 'a text where a number belongs').transform(() => undefined)]).optional();
const optionalFlag = z.boolean().nullish().catch(undefined);

const configSchema = z.object({
  architectures: z.array(z.string()).nullish(),
  model_type: z.string().optional(),
  hidden_size: optionalCount, n_embd: optionalCount, d_model: optionalCount,
  num_hidden_layers: optionalCount, n_layer: optionalCount,
  num_attention_heads: optionalCount, n_head: optionalCount,
  num_key_value_heads: optionalCount, num_kv_heads: optionalCount, n_head_kv: optionalCount,
  multi_query: optionalFlag, new_decoder_architecture: optionalFlag, parallel_attn: optionalFlag,
  head_dim: optionalCount, intermediate_size: optionalCount, n_inner: optionalCount,
  vocab_size: optionalCount, max_position_embeddings: optionalCount, n_positions: optionalCount, seq_length: optionalCount,
  bias: optionalFlag, attention_bias: optionalFlag, mlp_bias: optionalFlag,
  sliding_window: optionalCount, use_sliding_window: optionalFlag, max_window_layers: optionalCount, attention_chunk_size: optionalCount,
  sliding_window_pattern: optionalCount, layer_types: z.array(z.string()).nullish().catch(undefined),
  q_lora_rank: optionalCount, kv_lora_rank: optionalCount, qk_rope_head_dim: optionalCount, qk_nope_head_dim: optionalCount, v_head_dim: optionalCount,
  num_local_experts: optionalCount, n_routed_experts: optionalCount, num_experts: optionalCount, num_experts_per_tok: optionalCount,
  moe_intermediate_size: optionalCount, n_shared_experts: optionalCount, first_k_dense_replace: optionalCount,
  decoder_sparse_step: optionalCount, moe_layer_freq: optionalCount, mlp_only_layers: z.array(count).nullish().catch(undefined),
  num_nextn_predict_layers: optionalCount,
  tie_word_embeddings: optionalFlag,
  torch_dtype: z.unknown().optional(), dtype: z.unknown().optional(), quantization_config: z.unknown().optional(),
});

export type ModelConfig = z.output<typeof configSchema> & {
  /** The language model inside a model of several modalities, whose other parts are not described here. */
  isPart: boolean;
};

/** `configJson` is the parsed config.json. Throws MODEL_BROKEN. */
export function parseModelConfig(configJson: unknown, model: string): ModelConfig {
  const outer = z.record(z.string(), z.unknown()).safeParse(configJson);
  if (!outer.success) throw new AssayError('MODEL_BROKEN', { model, problem: 'config.json is not a mapping' });
  // Models of several modalities keep the language model's shape one level down.
  const inner = outer.data['text_config'];
  const isPart = typeof inner === 'object' && inner !== null;
  const parsed = configSchema.safeParse(isPart ? { ...outer.data, ...inner, architectures: outer.data['architectures'] } : outer.data);
  if (parsed.success) return { ...parsed.data, isPart };
  const issue = parsed.error.issues[0];
  throw new AssayError('MODEL_BROKEN', { model, problem: `config.json: ${issue?.path.join('.')}: ${issue?.message}` });
}

export interface ModelShape {
  layers: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  hidden: number;
  intermediate: number;
  vocab: number;
  /** Tokens the model was made for. */
  window: number;
}

/** A dimension that the file does not give, and that does not follow from others, is 0. */
export function readShape(config: ModelConfig): ModelShape {
  const heads = config.num_attention_heads ?? config.n_head ?? 0;
  const hidden = config.hidden_size ?? config.n_embd ?? config.d_model ?? 0;
  return {
    layers: config.num_hidden_layers ?? config.n_layer ?? 0,
    heads,
    kvHeads: readKvHeads(config, heads),
    headDim: config.head_dim || (heads > 0 ? Math.floor(hidden / heads) : 0),
    hidden,
    intermediate: config.intermediate_size ?? config.n_inner ?? 4 * hidden,
    vocab: config.vocab_size ?? 0,
    window: config.max_position_embeddings ?? config.n_positions ?? config.seq_length ?? 0,
  };
}

function readKvHeads(config: ModelConfig, heads: number): number {
  const named = config.num_key_value_heads ?? config.num_kv_heads ?? config.n_head_kv;
  if (config.multi_query && !config.new_decoder_architecture) return 1;
  return named ?? heads;
}

export interface Experts {
  total: number;
  /** Routed experts that one token meets. */
  active: number;
  /** Inner size of one expert; 0 where the file does not say. */
  intermediate: number;
  /** Experts that every token meets beside the routed ones. */
  shared: number;
  /** Layers that have experts. */
  layers: number;
}

export function readExperts(config: ModelConfig, { layers, intermediate }: ModelShape): Experts | undefined {
  const total = config.num_local_experts ?? config.n_routed_experts ?? config.num_experts;
  if (!total) return undefined;
  const dense = config.first_k_dense_replace ?? config.mlp_only_layers?.length ?? 0;
  return {
    total,
    active: config.num_experts_per_tok ?? total,
    intermediate: config.moe_intermediate_size ?? intermediate,
    shared: config.n_shared_experts ?? 0,
    layers: Math.max(0, layers - dense),
  };
}
