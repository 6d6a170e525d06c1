// Model names: what there is an engine for, and what lm_eval 0.4.13 knows, so that a refusal can tell a typo from a gap.
import { suggestNearest } from '@assay/domain';

export const SUPPORTED_MODELS: readonly string[] = ['vllm', 'simulated'];

export const LM_EVAL_MODELS: readonly string[] = [
  'anthropic-chat', 'anthropic-chat-completions', 'anthropic-completions', 'dummy', 'ggml', 'gguf', 'habana', 'hf', 'hf-audiolm-qwen', 'hf-auto',
  'hf-mistral3', 'hf-multimodal', 'huggingface', 'ipex', 'litellm', 'litellm-chat', 'litellm-chat-completions', 'local-chat-completions',
  'local-completions', 'mamba_ssm', 'megatron_lm', 'nemo_lm', 'neuronx', 'onnxruntime', 'onnxruntime-genai', 'openai-chat-completions',
  'openai-completions', 'openvino', 'sglang', 'sglang-generate', 'steered', 'textsynth', 'trtllm', 'vllm', 'vllm-vlm', 'watsonx_llm', 'winml',
];

/** lm_eval's names for engines that take a folder or hub id as `pretrained`: the same model runs in vLLM. */
const SAME_MODELS: readonly string[] = ['hf', 'hf-auto', 'huggingface', 'sglang', 'sglang-generate', 'ipex', 'openvino', 'neuronx', 'habana'];

const SUPPORTED = 'Supported: vllm, a model on this machine\'s GPUs or CPU';

/** What to type in place of a name that has no engine. */
export function suggestModel(model: string): string {
  if (SAME_MODELS.includes(model)) return `${SUPPORTED}. Type --model vllm; pretrained, revision, tokenizer and dtype in --model_args mean the same there.`;
  if (LM_EVAL_MODELS.includes(model)) return `${SUPPORTED} (--model vllm --model_args pretrained=FOLDER). For ${model} use lm_eval itself.`;
  return suggestNearest(model, SUPPORTED_MODELS, `${SUPPORTED}: --model vllm --model_args pretrained=FOLDER.`);
}
