// What planning knows of a model: read from config.json and the safetensors headers, never from loaded weights.
// A fact that could not be known is named in `unknown`.
import { readAttentionLayers } from './attention-layers.ts';
import { FLOAT_TENSOR_DTYPES, parseRunDtype, type RunDtype, TENSOR_DTYPE_BYTES } from './dtypes.ts';
import { type Experts, type ModelConfig, type ModelShape, parseModelConfig, readExperts, readShape } from './model-config.ts';
import { countParameters, isKnownFamily, type ParameterCount } from './parameter-count.ts';
import { parseQuantization, type Quantization } from './quantization.ts';
import type { SafetensorsHeader } from './safetensors-header.ts';
import { type StoredWeights, sumHeaders, sumShape } from './stored-weights.ts';

export interface ModelFacts extends StoredWeights, ModelShape {
  architecture: string;
  modelType: string;
  /** Unpacked, those of scales left out. */
  parameters: number;
  /** Those that one token meets; undefined where experts are of a family that is not known. */
  activeParameters?: number;
  /** Bytes of the weights as stored, by safetensors' element type. */
  weightBytesByDtype: Readonly<Record<string, number>>;
  weightBytes: number;
  /** Exact from the files, computed from a known family's shape, or not known at all. */
  weightsFrom: 'headers' | 'shape' | 'nothing';
  slidingWindow?: number;
  /** Layers that see only the sliding window. */
  slidingLayers: number;
  /** Layers that keep a state of constant size and no keys and values. */
  recurrentLayers?: number;
  /** Elements of one latent per layer, which is kept in place of keys and values. */
  latentDim?: number;
  experts?: Experts;
  isTied: boolean;
  dtype: RunDtype;
  quantization?: Quantization;
  unknown: string[];
}

/** `configJson` is the parsed config.json. Throws MODEL_BROKEN without a config. */
export function parseModelFacts(configJson: unknown, headers: readonly SafetensorsHeader[], model = 'config.json'): ModelFacts {
  const config = parseModelConfig(configJson, model);
  const shape = readShape(config);
  const quantization = config.quantization_config ? parseQuantization(config.quantization_config) : undefined;
  const dtype = parseRunDtype(config.torch_dtype) ?? parseRunDtype(config.dtype) ?? 'float32';
  const count = countParameters(config);
  const weights = readWeights({ config, headers, count, quantization, dtype });
  const { slidingLayers, slidingWindow, recurrentLayers } = readAttentionLayers(config, shape.layers);
  const experts = readExperts(config, shape);
  const latentDim = config.kv_lora_rank ? config.kv_lora_rank + (config.qk_rope_head_dim ?? 0) : undefined;
  const activeParameters = experts === undefined ? weights.parameters : count && weights.parameters - (count.total - count.active);
  return {
    architecture: config.architectures?.[0] ?? 'unknown',
    modelType: config.model_type ?? 'unknown',
    ...weights,
    ...(activeParameters === undefined ? {} : { activeParameters }),
    ...shape,
    slidingLayers,
    ...(slidingWindow === undefined ? {} : { slidingWindow }),
    ...(recurrentLayers > 0 ? { recurrentLayers } : {}),
    ...(latentDim === undefined ? {} : { latentDim }),
    ...(experts ? { experts } : {}),
    isTied: readTied(config, headers, count),
    dtype,
    ...(quantization ? { quantization } : {}),
    unknown: listUnknown({ config, shape, weightsFrom: weights.weightsFrom, recurrentLayers }),
  };
}

interface WeightSources {
  config: ModelConfig;
  headers: readonly SafetensorsHeader[];
  count: ParameterCount | undefined;
  quantization: Quantization | undefined;
  dtype: RunDtype;
}

function readWeights({ config, headers, count, quantization, dtype }: WeightSources): StoredWeights & Pick<ModelFacts, 'weightsFrom'> {
  if (headers.length > 0) {
    const loadedLayers = config.num_nextn_predict_layers ? config.num_hidden_layers ?? undefined : undefined;
    return { ...sumHeaders(headers, { quantization, loadedLayers }), weightsFrom: 'headers' };
  }
  if (count) return { ...sumShape(count, { quantization, dtype }), weightsFrom: 'shape' };
  return { parameters: 0, weightBytes: 0, weightBytesByDtype: {}, weightsFrom: 'nothing' };
}

// Only families that tie by default leave the key out and store no output layer.
function readTied(config: ModelConfig, headers: readonly SafetensorsHeader[], count: ParameterCount | undefined): boolean {
  if (config.tie_word_embeddings !== undefined && config.tie_word_embeddings !== null) return config.tie_word_embeddings;
  if (headers.length === 0) return count?.isTied ?? false;
  return !headers.some((header) => Object.keys(header).some((name) => /(^|\.)(lm_head|embed_out|output)\.weight$/.test(name)));
}

interface Known {
  config: ModelConfig;
  shape: ModelShape;
  weightsFrom: ModelFacts['weightsFrom'];
  recurrentLayers: number;
}

function listUnknown({ config, shape, weightsFrom, recurrentLayers }: Known): string[] {
  const missing = Object.entries(shape).filter(([name, value]) => value === 0 && name !== 'window').map(([name]) => name);
  if (!isKnownFamily(config)) missing.push('architecture');
  if (recurrentLayers > 0) missing.push('recurrentState');
  if (weightsFrom === 'nothing') missing.push('weights');
  return missing;
}

/** Bytes of the weights once the engine has cast them to `dtype`. */
export function castWeightBytes(facts: Pick<ModelFacts, 'weightBytesByDtype'>, dtypeBytes: number): number {
  return Object.entries(facts.weightBytesByDtype).reduce((sum, [dtype, bytes]) => {
    const isCast = FLOAT_TENSOR_DTYPES.has(dtype);
    return sum + (isCast ? (bytes / TENSOR_DTYPE_BYTES[dtype]!) * dtypeBytes : bytes);
  }, 0);
}
