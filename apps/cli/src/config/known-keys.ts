// Keys inside model_args and gen_kwargs, so that a misspelt one is refused here and not by an engine minutes later.
// Names are those of vLLM 0.32.0 (EngineArgs, SamplingParams) and of lm_eval 0.4.13's vLLM backend.
import { listConfigKeys } from '@assay/domain';
import { ENGINE_ARGUMENTS } from './engine-arguments.ts';

const BACKEND_ARGUMENTS = [
  'pretrained', 'max_length', 'max_gen_toks', 'batch_size', 'max_batch_size', 'add_bos_token', 'prefix_token_id', 'lora_local_path',
  'enable_thinking', 'chat_template_args', 'think_end_token', 'truncation_side', 'device', 'swap_space',
];

const GENERATION_KEYS = [
  'until', 'do_sample', 'max_gen_toks', 'max_new_tokens', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'min_p', 'seed',
  'presence_penalty', 'frequency_penalty', 'repetition_penalty', 'repetition_detection', 'min_tokens', 'ignore_eos', 'stop_token_ids', 'bad_words',
  'logit_bias', 'allowed_token_ids', 'include_stop_str_in_output', 'skip_special_tokens', 'spaces_between_special_tokens',
  'thinking_token_budget', 'structured_outputs', 'extra_args',
];

/** Known keys of the engine that nobody may set here, and what to use instead. */
export const MISPLACED_KEYS: Record<string, Record<string, string>> = {
  gen_kwargs: {
    stop: 'Write until, lm_eval\'s name for stop texts.',
    n: 'Repeats belong to the task (repeats: N).',
    logprobs: 'Leave it out; log-probabilities are asked for by the task\'s kind of request.',
    prompt_logprobs: 'Leave it out; log-probabilities are asked for by the task\'s kind of request.',
  },
  model_args: { model: 'Write pretrained, lm_eval\'s name for the model.' },
};

/** The keys a mapping may hold; undefined where any will do. */
export const INNER_KEYS: Record<string, readonly string[]> = {
  model_args: [...BACKEND_ARGUMENTS, ...ENGINE_ARGUMENTS],
  gen_kwargs: GENERATION_KEYS,
  ...Object.fromEntries(listConfigKeys().filter((key) => key.fields.length > 0).map((key) => [key.key, key.fields.map((field) => field.key)])),
};

/** The order in which a key at the wrong level is looked for. */
const LEVELS = ['plan', 'limits', 'gen_kwargs', 'model_args', 'seed'] as const;

/** Where a key belongs that stands at another level, such as "temperature" at the top → "gen_kwargs". */
export function findLevel(key: string): string | undefined {
  return LEVELS.find((level) => INNER_KEYS[level]?.includes(key));
}
