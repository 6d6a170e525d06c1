// Parameters of a model computed from its shape alone, for families whose computed count equals the published one to the last
// parameter (fixtures/models). Each family's layer is as its published architecture has it; what differs stands in the table.
import { type Experts, type ModelConfig, type ModelShape, readExperts, readShape } from './model-config.ts';

interface Family {
  /** Vectors of the hidden size in one layer's norms. */
  normVectors: number;
  /** Vectors of the final norm. */
  finalNormVectors?: number;
  /** Biases on the query, key and value projections whatever the file says. */
  hasQkvBias?: boolean;
  /** A norm over each head's queries and keys. */
  hasHeadNorms?: boolean;
  /** Matrices of one feed-forward block: a gated one has three. */
  feedForwardMatrices?: 2 | 3;
  /** A correction for each expert beside the router's matrix. */
  hasRouterBias?: boolean;
  /** Whether embeddings and output layer are one where the file does not say. */
  isTied?: boolean;
}

const LLAMA: Family = { normVectors: 2 };
const FAMILIES: Readonly<Record<string, Family>> = {
  llama: LLAMA, mistral: LLAMA, mixtral: LLAMA, phi3: LLAMA,
  qwen2: { normVectors: 2, hasQkvBias: true },
  qwen3: { normVectors: 2, hasHeadNorms: true },
  qwen3_moe: { normVectors: 2, hasHeadNorms: true },
  gemma2: { normVectors: 4, isTied: true },
  gemma3_text: { normVectors: 4, hasHeadNorms: true, isTied: true },
  // One norm of weight and bias a layer, since attention and feed-forward run side by side; an output layer of its own.
  falcon: { normVectors: 2, finalNormVectors: 2, feedForwardMatrices: 2 },
  deepseek_v3: { normVectors: 2, hasRouterBias: true },
};

export interface ParameterCount {
  total: number;
  /** Those that one token meets: of the routed experts only the active ones. */
  active: number;
  /** Elements of the layers' weight matrices without routers: what a quantised checkpoint packs. */
  matrices: number;
  isTied: boolean;
}

/** Whether the family's layer is one of the table. */
export function isKnownFamily(config: ModelConfig): boolean {
  return FAMILIES[config.model_type ?? ''] !== undefined;
}

/** Undefined for a family, or a variant of one, that the table does not hold, and where a dimension is missing. */
export function countParameters(config: ModelConfig): ParameterCount | undefined {
  const family = FAMILIES[config.model_type ?? ''];
  if (family === undefined || isVariant(config)) return undefined;
  const shape = readShape(config);
  const { layers, hidden, vocab } = shape;
  const attention = config.kv_lora_rank ? countLatentAttention(config, shape) : countAttention(config, shape, family);
  const feedForward = countFeedForward(config, shape, family);
  if ([layers, hidden, vocab, attention.matrices].some((size) => size === 0 || Number.isNaN(size))) return undefined;
  const isTied = config.tie_word_embeddings ?? family.isTied ?? false;
  const norms = (layers * family.normVectors + (family.finalNormVectors ?? 1)) * hidden;
  const total = layers * (attention.matrices + attention.vectors) + feedForward.matrices + feedForward.others + norms + (isTied ? 1 : 2) * vocab * hidden;
  return { total, active: total - feedForward.idle, matrices: layers * attention.matrices + feedForward.matrices, isTied };
}

/** Members of a family whose layers are built otherwise than its fixtures. */
function isVariant(config: ModelConfig): boolean {
  const isOtherFalcon = config.model_type === 'falcon' && (config.bias === true || config.new_decoder_architecture === true || config.parallel_attn === false);
  return config.isPart || isOtherFalcon || (config.decoder_sparse_step ?? 1) !== 1 || (config.moe_layer_freq ?? 1) !== 1;
}

interface Counted {
  matrices: number;
  vectors: number;
}

function countAttention(config: ModelConfig, { hidden, heads, kvHeads, headDim }: ModelShape, family: Family): Counted {
  const outputs = (heads + 2 * kvHeads) * headDim;
  const biases = family.hasQkvBias ? outputs : config.attention_bias ? outputs + hidden : 0;
  return { matrices: hidden * outputs + heads * headDim * hidden, vectors: biases + (family.hasHeadNorms ? 2 * headDim : 0) };
}

/** Keys and values made from one latent a token (DeepSeek-V2 and V3, arXiv 2405.04434). */
function countLatentAttention(config: ModelConfig, { hidden, heads }: ModelShape): Counted {
  const { q_lora_rank: queryRank, kv_lora_rank: latent = NaN, qk_nope_head_dim: plain = NaN, qk_rope_head_dim: rotated = NaN, v_head_dim: value = NaN } = config;
  const [kept, keyDim] = [Number(latent), Number(plain) + Number(rotated)];
  const queries = queryRank ? hidden * queryRank + queryRank * heads * keyDim : hidden * heads * keyDim;
  const matrices = queries + hidden * (kept + Number(rotated)) + kept * heads * (Number(plain) + Number(value)) + heads * Number(value) * hidden;
  return { matrices, vectors: kept + (queryRank ?? 0) };
}

/** Over all layers. `idle` is the part of the matrices that a token does not meet. */
function countFeedForward(config: ModelConfig, shape: ModelShape, family: Family): { matrices: number; others: number; idle: number } {
  const { layers, hidden, intermediate } = shape;
  const block = (inner: number) => (family.feedForwardMatrices ?? 3) * hidden * inner;
  const biases = config.mlp_bias ? 2 * intermediate + hidden : 0;
  const experts: Experts | undefined = readExperts(config, shape);
  if (experts === undefined) return { matrices: layers * block(intermediate), others: layers * biases, idle: 0 };
  const expert = block(experts.intermediate);
  const router = hidden * experts.total + (family.hasRouterBias ? experts.total : 0);
  return {
    matrices: experts.layers * (experts.total + experts.shared) * expert + (layers - experts.layers) * block(intermediate),
    others: experts.layers * router,
    idle: experts.layers * (experts.total - experts.active) * expert,
  };
}
