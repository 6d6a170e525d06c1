// Every flag of `lm_eval run` 0.4.13, in its order. A test compares the names with lm_eval's own parser.
import type { FlagEntry } from './flag-entry.ts';

const lmEval = (entry: Omit<FlagEntry, 'origin'>): FlagEntry => ({ origin: 'lm_eval', ...entry });

/** The version whose flags these are. */
export const LM_EVAL_VERSION = '0.4.13';

const SERVICES = 'a run sends nothing to outside services';
const UPLOAD = 'Leave it out; scores/results_*.json has lm_eval\'s shape and can be uploaded afterwards.';

export const LM_EVAL_FLAGS: readonly FlagEntry[] = [
  lmEval({ flag: 'config', short: 'C', status: 'supported', rule: 'text', value: 'FILE', arity: 'one', description: 'read the configuration from a YAML file; flags override it key by key', note: 'An unknown or doubled key is an error with its line.' }),
  lmEval({ flag: 'tasks', short: 't', status: 'supported', key: 'tasks', rule: 'list', value: 'TASK', arity: 'many', note: 'A folder of tasks is given as a path (./folder or /folder), so that a folder never shadows a task\'s name. `list`, which printed the tasks in earlier versions, is answered with the command that does.' }),
  lmEval({ flag: 'model', short: 'M', status: 'supported', key: 'model', rule: 'text', value: 'NAME', arity: 'one', note: 'lm_eval\'s other names are refused by name.' }),
  lmEval({ flag: 'model_args', short: 'a', status: 'supported', key: 'model_args', rule: 'mapping', value: 'KEY=VALUE', arity: 'many', note: 'A key that neither lm_eval\'s vLLM backend nor vLLM knows is refused. As in lm_eval, the flag replaces the file\'s whole mapping.' }),
  lmEval({ flag: 'apply_chat_template', status: 'supported', key: 'apply_chat_template', rule: 'booleanOrText', value: 'NAME', arity: 'optional', note: 'true and false are switches, anything else is a template\'s name.' }),
  lmEval({ flag: 'limit', short: 'L', status: 'supported', key: 'limit', rule: 'limit', value: 'N', arity: 'one', note: 'A fraction counts for each task by itself. 1.0 is refused (1 is one document, no limit is all), and so are 0 and 1.5.' }),
  lmEval({ flag: 'use_cache', short: 'c', status: 'refused', rule: 'text', value: 'PATH', arity: 'one', reason: 'its cache is keyed by the prompt alone, so it can serve another model\'s answers', instead: 'Leave it out; the same command resumes a run from its own directory.' }),
  lmEval({ flag: 'num_fewshot', short: 'f', status: 'supported', key: 'num_fewshot', rule: 'number', value: 'N', arity: 'one' }),
  lmEval({ flag: 'batch_size', short: 'b', status: 'noted', key: 'batch_size', rule: 'batchSize', value: 'N|auto', arity: 'one', note: 'The engine batches continuously, so no number of documents is set aside: auto, auto:N and N run alike, but 1 selects `determinism: isolated`. The default is auto, not 1.' }),
  lmEval({ flag: 'max_batch_size', status: 'noted', key: 'max_batch_size', rule: 'number', value: 'N', arity: 'one', note: 'Becomes max_num_seqs, as in lm_eval\'s vLLM backend; `plan: max_num_seqs` wins.' }),
  lmEval({ flag: 'device', status: 'noted', key: 'device', rule: 'text', value: 'NAME', arity: 'one', note: 'Recorded only: devices are found by the planner. CUDA_VISIBLE_DEVICES chooses among them.' }),
  lmEval({ flag: 'gen_kwargs', status: 'supported', key: 'gen_kwargs', rule: 'mapping', value: 'KEY=VALUE', arity: 'many', note: 'A key that neither lm_eval nor vLLM\'s SamplingParams knows is refused. As in lm_eval, temperature counts for nothing where a task says do_sample: false, unless do_sample=true stands beside it.' }),
  lmEval({ flag: 'output_path', short: 'o', status: 'supported', key: 'output_path', rule: 'text', value: 'DIR', arity: 'one', note: 'A folder, never the name of a JSON file; lm_eval\'s files lie in its folder scores/.' }),
  lmEval({ flag: 'log_samples', short: 's', status: 'supported', key: 'log_samples', rule: 'boolean', value: 'BOOL', arity: 'optional', note: 'lm_eval leaves it off; `--log_samples false` does that.' }),
  lmEval({ flag: 'samples', short: 'E', status: 'supported', key: 'samples', rule: 'samples', value: 'JSON|FILE', arity: 'one' }),
  lmEval({ flag: 'cache_requests', status: 'refused', rule: 'text', value: 'MODE', arity: 'optional', reason: 'its cache serves prompts of other seeds and generation settings', instead: 'Leave it out; requests are rendered once a run and kept in it.' }),
  lmEval({ flag: 'check_integrity', status: 'refused', rule: 'boolean', value: 'BOOL', arity: 'optional', reason: 'it runs lm_eval\'s own test suite, which its package does not contain', instead: 'Leave it out; tasks are checked when their requests are built, before a model is loaded.' }),
  lmEval({ flag: 'system_instruction', status: 'supported', key: 'system_instruction', rule: 'text', value: 'TEXT', arity: 'one' }),
  lmEval({ flag: 'fewshot_as_multiturn', status: 'supported', key: 'fewshot_as_multiturn', rule: 'boolean', value: 'BOOL', arity: 'optional', note: 'A value that is neither true nor false is refused; lm_eval takes it for false.' }),
  lmEval({ flag: 'include_path', status: 'supported', key: 'include_path', rule: 'list', value: 'DIR', arity: 'many', note: 'May be given several times.' }),
  lmEval({ flag: 'verbosity', short: 'v', status: 'noted', rule: 'text', value: 'LEVEL', arity: 'one', description: 'log level of the harness', note: 'Sets LMEVAL_LOG_LEVEL of the harness worker; its log is in the run directory.' }),
  lmEval({ flag: 'write_out', short: 'w', status: 'noted', rule: 'boolean', value: 'BOOL', arity: 'optional', description: 'accepted; prompts are always written', note: 'Every prompt, not only the first, is in requests/docs.ndjson of the run directory.' }),
  lmEval({ flag: 'show_config', status: 'noted', rule: 'boolean', value: 'BOOL', arity: 'optional', description: 'accepted; task configurations are always written', note: 'The tasks\' full configuration is in scores/results_*.json.' }),
  lmEval({ flag: 'wandb_args', status: 'refused', rule: 'mapping', value: 'KEY=VALUE', arity: 'many', reason: SERVICES, instead: UPLOAD }),
  lmEval({ flag: 'wandb_config_args', status: 'refused', rule: 'mapping', value: 'KEY=VALUE', arity: 'many', reason: SERVICES, instead: UPLOAD }),
  lmEval({ flag: 'trackio_args', status: 'refused', rule: 'mapping', value: 'KEY=VALUE', arity: 'many', reason: SERVICES, instead: UPLOAD }),
  lmEval({ flag: 'hf_hub_log_args', status: 'refused', rule: 'mapping', value: 'KEY=VALUE', arity: 'many', reason: SERVICES, instead: UPLOAD }),
  lmEval({ flag: 'predict_only', short: 'x', status: 'supported', key: 'predict_only', rule: 'boolean', value: 'BOOL', arity: 'optional' }),
  lmEval({ flag: 'seed', status: 'supported', key: 'seed', rule: 'seed', value: 'N|P,N,T,F', arity: 'one', note: 'None is refused: what is not seeded cannot be run again.' }),
  lmEval({ flag: 'trust_remote_code', status: 'supported', key: 'trust_remote_code', rule: 'boolean', value: 'BOOL', arity: 'optional', note: 'The manifest records it.' }),
  lmEval({ flag: 'confirm_run_unsafe_code', status: 'supported', key: 'confirm_run_unsafe_code', rule: 'boolean', value: 'BOOL', arity: 'optional' }),
  lmEval({ flag: 'metadata', status: 'supported', key: 'metadata', rule: 'mapping', value: 'KEY=VALUE|JSON', arity: 'many' }),
];
