// What planning knows of a model: read from config.json and the safetensors headers, never from loaded weights.
// A term that could not be known is named in `unknown`.
import { AssayError } from '@assay/domain';
import { z } from 'zod';
import { FLOAT_TENSOR_DTYPES, parseRunDtype, type RunDtype, TENSOR_DTYPE_BYTES } from './dtypes.ts';
import { parseQuantization, type Quantization } from './quantization.ts';
import type { SafetensorsHeader } from './safetensors-header.ts';

export interface ModelFacts {
  architecture: string;
  modelType: string;
  parameters: number;
  /** Bytes of the weights as stored, by safetensors' element type. */
  weightBytesByDtype: Readonly<Record<string, number>>;
  weightBytes: number;
  layers: number;
  heads: number;
  kvHeads: number;
  headDim: number;
  hidden: number;
  intermediate: number;
  vocab: number;
  /** Tokens the model was made for; 0 where config.json does not say. */
  window: number;
  slidingWindow?: number;
  /** Layers that see only the sliding window. */
  slidingLayers: number;
  /** Elements of one latent per layer, which is kept in place of keys and values. */
  latentDim?: number;
  experts?: { total: number; active: number };
  isTied: boolean;
  dtype: RunDtype;
  quantization?: Quantization;
  unknown: string[];
}

const count = z.int().nonnegative();
// Some models give a list, one value a layer: not known here. A text is a mistake.
const optionalCount = z.union([count, z.null(), z.unknown().refine((value) => typeof value !== 'string', 'a text where a number belongs').transform(() => undefined)]).optional();
const configSchema = z.object({
  architectures: z.array(z.string()).nullish(),
  model_type: z.string().optional(),
  hidden_size: optionalCount, n_embd: optionalCount, d_model: optionalCount,
  num_hidden_layers: optionalCount, n_layer: optionalCount,
  num_attention_heads: optionalCount, n_head: optionalCount,
  num_key_value_heads: optionalCount, num_kv_heads: optionalCount, n_head_kv: optionalCount,
  multi_query: z.boolean().nullish().catch(undefined), new_decoder_architecture: z.boolean().nullish().catch(undefined),
  head_dim: optionalCount, intermediate_size: optionalCount, n_inner: optionalCount,
  vocab_size: optionalCount, max_position_embeddings: optionalCount, n_positions: optionalCount, seq_length: optionalCount,
  sliding_window: optionalCount, use_sliding_window: z.boolean().nullish().catch(undefined), max_window_layers: optionalCount,
  sliding_window_pattern: optionalCount, layer_types: z.array(z.string()).nullish().catch(undefined),
  kv_lora_rank: optionalCount, qk_rope_head_dim: optionalCount,
  num_local_experts: optionalCount, n_routed_experts: optionalCount, num_experts: optionalCount, num_experts_per_tok: optionalCount,
  tie_word_embeddings: z.boolean().nullish().catch(undefined),
  torch_dtype: z.unknown().optional(), dtype: z.unknown().optional(), quantization_config: z.unknown().optional(),
});
type Config = z.output<typeof configSchema>;

/** `configJson` is the parsed config.json. Without headers the weights stay unknown. Throws MODEL_BROKEN without a config. */
export function parseModelFacts(configJson: unknown, headers: readonly SafetensorsHeader[], model = 'config.json'): ModelFacts {
  const config = readConfig(configJson, model);
  const weights = sumWeights(headers);
  const shape = readShape(config);
  const latentDim = config.kv_lora_rank ? config.kv_lora_rank + (config.qk_rope_head_dim ?? 0) : undefined;
  const total = config.num_local_experts ?? config.n_routed_experts ?? config.num_experts;
  const quantization = config.quantization_config ? parseQuantization(config.quantization_config) : undefined;
  const slidingLayers = countSlidingLayers(config, shape.layers);
  const isTied = readTied(config, headers);
  const unknown = Object.entries(shape).filter(([name, value]) => value === 0 && name !== 'window').map(([name]) => name);
  if (headers.length === 0) unknown.push('weights');
  return {
    architecture: config.architectures?.[0] ?? 'unknown',
    modelType: config.model_type ?? 'unknown',
    ...weights,
    ...shape,
    slidingLayers,
    ...(slidingLayers > 0 && config.sliding_window ? { slidingWindow: config.sliding_window } : {}),
    ...(latentDim === undefined ? {} : { latentDim }),
    ...(total ? { experts: { total, active: config.num_experts_per_tok ?? total } } : {}),
    isTied,
    dtype: parseRunDtype(config.torch_dtype) ?? parseRunDtype(config.dtype) ?? 'float32',
    ...(quantization ? { quantization } : {}),
    unknown,
  };
}

function readConfig(configJson: unknown, model: string): Config {
  const outer = z.record(z.string(), z.unknown()).safeParse(configJson);
  if (!outer.success) throw new AssayError('MODEL_BROKEN', { model, problem: 'config.json is not a mapping', instead: 'Correct config.json, or fetch it again.' });
  // Models of several modalities keep the language model's shape one level down.
  const inner = outer.data.text_config;
  const merged = typeof inner === 'object' && inner !== null ? { ...outer.data, ...inner, architectures: outer.data.architectures } : outer.data;
  const parsed = configSchema.safeParse(merged);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new AssayError('MODEL_BROKEN', { model, problem: `config.json: ${issue?.path.join('.')}: ${issue?.message}`, instead: 'Correct config.json, or fetch it again.' });
}

function readShape(config: Config) {
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

function readKvHeads(config: Config, heads: number): number {
  const named = config.num_key_value_heads ?? config.num_kv_heads ?? config.n_head_kv;
  if (config.multi_query && !config.new_decoder_architecture) return 1;
  return named ?? heads;
}

// Three generations of config.json: a list of layer kinds, every n-th layer full, or all (but the first few) alike.
function countSlidingLayers(config: Config, layers: number): number {
  if (config.layer_types) return config.layer_types.filter((kind) => kind === 'sliding_attention').length;
  if (!config.sliding_window || config.use_sliding_window === false) return 0;
  const pattern = config.sliding_window_pattern ?? (config.model_type === 'gemma2' ? 2 : undefined);
  if (pattern) return layers - Math.floor(layers / pattern);
  return config.use_sliding_window ? Math.max(0, layers - (config.max_window_layers ?? 0)) : layers;
}

// Only families that tie by default leave the key out and store no output layer.
function readTied(config: Config, headers: readonly SafetensorsHeader[]): boolean {
  if (config.tie_word_embeddings !== undefined && config.tie_word_embeddings !== null) return config.tie_word_embeddings;
  return headers.length > 0 && !headers.some((header) => Object.keys(header).some((name) => /(^|\.)(lm_head|embed_out|output)\.weight$/.test(name)));
}

function sumWeights(headers: readonly SafetensorsHeader[]) {
  const weightBytesByDtype: Record<string, number> = {};
  const seen = new Set<string>();
  let parameters = 0;
  let weightBytes = 0;
  for (const header of headers) {
    for (const [name, tensor] of Object.entries(header)) {
      // Some repositories hold the same tensors twice, in shards and in one consolidated file.
      if (seen.has(name)) continue;
      seen.add(name);
      weightBytesByDtype[tensor.dtype] = (weightBytesByDtype[tensor.dtype] ?? 0) + tensor.bytes;
      weightBytes += tensor.bytes;
      parameters += tensor.shape.reduce((product, size) => product * size, 1);
    }
  }
  return { parameters, weightBytes, weightBytesByDtype };
}

/** Bytes of the weights once the engine has cast them to `dtype`. */
export function castWeightBytes(facts: Pick<ModelFacts, 'weightBytesByDtype'>, dtypeBytes: number): number {
  return Object.entries(facts.weightBytesByDtype).reduce((sum, [dtype, bytes]) => {
    const isCast = FLOAT_TENSOR_DTYPES.has(dtype);
    return sum + (isCast ? (bytes / TENSOR_DTYPE_BYTES[dtype]!) * dtypeBytes : bytes);
  }, 0);
}
