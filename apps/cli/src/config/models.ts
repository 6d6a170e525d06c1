// Model names: what there is an engine for, and what lm_eval 0.4.13 knows, so that a refusal can tell a typo from a gap.

export const SUPPORTED_MODELS: readonly string[] = ['vllm', 'simulated'];

export const LM_EVAL_MODELS: readonly string[] = [
  'anthropic-chat', 'anthropic-chat-completions', 'anthropic-completions', 'dummy', 'ggml', 'gguf', 'habana', 'hf', 'hf-audiolm-qwen', 'hf-auto',
  'hf-mistral3', 'hf-multimodal', 'huggingface', 'ipex', 'litellm', 'litellm-chat', 'litellm-chat-completions', 'local-chat-completions',
  'local-completions', 'mamba_ssm', 'megatron_lm', 'nemo_lm', 'neuronx', 'onnxruntime', 'onnxruntime-genai', 'openai-chat-completions',
  'openai-completions', 'openvino', 'sglang', 'sglang-generate', 'steered', 'textsynth', 'trtllm', 'vllm', 'vllm-vlm', 'watsonx_llm', 'winml',
];
