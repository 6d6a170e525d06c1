// Shapes of public models for tests: fields of their config.json, as published on the Hugging Face hub.
import { type ModelFacts, parseModelFacts } from './model-facts.ts';

/** HuggingFaceTB/SmolLM2-135M-Instruct. */
export const SMOLLM2_CONFIG = {
  architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3,
  intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192, dtype: 'bfloat16', head_dim: 64,
};

/** meta-llama/Llama-3.1-8B. */
export const LLAMA_8B_CONFIG = {
  architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8,
  intermediate_size: 14336, vocab_size: 128256, tie_word_embeddings: false, max_position_embeddings: 131072, torch_dtype: 'bfloat16',
};

/** google/gemma-2-9b: every other layer slides. */
export const GEMMA_2_9B_CONFIG = {
  architectures: ['Gemma2ForCausalLM'], model_type: 'gemma2', hidden_size: 3584, num_hidden_layers: 42, num_attention_heads: 16, num_key_value_heads: 8,
  intermediate_size: 14336, vocab_size: 256000, tie_word_embeddings: true, max_position_embeddings: 8192, torch_dtype: 'bfloat16', head_dim: 256, sliding_window: 4096,
};

/** google/gemma-3-1b-pt: five of six layers slide. */
export const GEMMA_3_1B_CONFIG = {
  architectures: ['Gemma3ForCausalLM'], model_type: 'gemma3_text', hidden_size: 1152, num_hidden_layers: 26, num_attention_heads: 4, num_key_value_heads: 1,
  intermediate_size: 6912, vocab_size: 262144, max_position_embeddings: 32768, torch_dtype: 'bfloat16', head_dim: 256, sliding_window: 512, sliding_window_pattern: 6,
};

/** deepseek-ai/DeepSeek-V3. */
export const DEEPSEEK_V3_CONFIG = {
  architectures: ['DeepseekV3ForCausalLM'], model_type: 'deepseek_v3', hidden_size: 7168, num_hidden_layers: 61, num_attention_heads: 128, num_key_value_heads: 128,
  kv_lora_rank: 512, qk_rope_head_dim: 64, intermediate_size: 18432, n_routed_experts: 256, num_experts_per_tok: 8, vocab_size: 129280, tie_word_embeddings: false,
  max_position_embeddings: 163840, torch_dtype: 'bfloat16', quantization_config: { quant_method: 'fp8', fmt: 'e4m3', weight_block_size: [128, 128] },
};

/** tiiuae/falcon-7b: one KV head. */
export const FALCON_7B_CONFIG = {
  architectures: ['FalconForCausalLM'], model_type: 'falcon', hidden_size: 4544, num_hidden_layers: 32, num_attention_heads: 71, multi_query: true,
  new_decoder_architecture: false, vocab_size: 65024, torch_dtype: 'bfloat16',
};

/** One tensor that holds as many weights as the model has. */
export function factsOf(config: Readonly<Record<string, unknown>>, parameters: number, dtype = 'BF16'): ModelFacts {
  const bytes = parameters * (dtype === 'F32' ? 4 : 2);
  return parseModelFacts(config, [{ 'model.weight': { dtype, shape: [parameters], bytes } }]);
}

export const smollm2 = factsOf(SMOLLM2_CONFIG, 134_515_008);
