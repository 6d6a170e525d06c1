// The configuration of a run: the single home of every key's type, default and description.
// Flags, the file reader, help texts and docs/configuration.md derive from it. Keys above the line are lm_eval's.
import { z } from 'zod';
import { parseBytes } from './bytes.ts';

const mapping = z.record(z.string(), z.unknown());

/** `form` says what may stand there where a type does not; see config-forms.ts. */
const bytes = z.union([z.int().positive(), z.string()]).meta({ form: 'a size such as 5GiB' }).transform((value, context) => {
  try {
    return parseBytes(value);
  } catch {
    context.addIssue({ code: 'custom', message: 'expected a size such as 5GiB or 80GB' });
    return z.NEVER;
  }
});

const limit = z.number().positive().refine((value) => value < 1 || Number.isInteger(value), {
  message: 'expected a whole number of documents, or a fraction below 1',
});

/** A text "false" is truthy where a name is expected, so it is refused rather than looked up. */
const templateName = z.string().min(1).refine((name) => !/^(true|false)$/i.test(name), {
  message: 'expected true, false or the name of a template, not a quoted true or false',
});

/** How a model lies on the devices; every field may be left to the planner. */
const planRequestSchema = z.strictObject({
  data: z.int().positive().optional().describe('replicas of the model, each in a process of its own'),
  tensor: z.int().positive().optional().describe('tensor-parallel ranks of one replica'),
  pipeline: z.int().positive().optional().describe('pipeline stages of one replica'),
  max_num_seqs: z.int().positive().optional().describe('sequences in one engine step'),
  max_num_batched_tokens: z.int().positive().optional().describe('tokens in one engine step'),
});

// Beyond it a timer of Node's ends at once; some 24 days.
const MAX_TIMEOUT_SECONDS = 2_147_483;
const timeout = z.number().positive().max(MAX_TIMEOUT_SECONDS);

const limitsSchema = z.strictObject({
  memory: bytes.optional().describe('memory of each engine worker, such as 5GiB'),
  kind: z.enum(['address_space', 'cgroup']).optional().describe('how the limit is enforced: address_space (the engine sees an allocation fail), or cgroup (a control group of each worker\'s own, in which the kernel kills)'),
});

const seedsSchema = z.strictObject({
  python: z.int(),
  numpy: z.int().min(0).max(2 ** 32 - 1),
  torch: z.int(),
  fewshot: z.int(),
});

export const runConfigSchema = z.strictObject({
  model: z.string().default('vllm').describe('the engine: vllm (or simulated, for scale and fault tests only)'),
  model_args: mapping.default({}).describe('arguments of the engine: pretrained=PATH,dtype=bfloat16,… or a mapping'),
  tasks: z.array(z.string()).default([]).describe('task names, globs, groups, tags or paths of task YAML files'),
  include_path: z.array(z.string()).default([]).describe('folders with further task YAML files'),
  num_fewshot: z.int().nonnegative().optional().describe('few-shot examples; without it each task decides'),
  limit: limit.optional().describe('documents per task; below 1, the fraction of each task'),
  samples: z.record(z.string(), z.array(z.int().nonnegative())).meta({ form: 'a mapping of task to a list of whole numbers' }).optional().describe('documents per task by number, as JSON or a JSON file'),
  gen_kwargs: mapping.default({}).describe('generation parameters that override the tasks\' own'),
  apply_chat_template: z.union([z.boolean(), templateName]).meta({ form: 'true, false or the name of a template' }).default(false).describe('apply the tokenizer\'s chat template, or the named one'),
  system_instruction: z.string().optional().describe('system message in front of every prompt'),
  fewshot_as_multiturn: z.boolean().optional().describe('few-shot examples as turns of a conversation; on by default with a chat template'),
  seed: seedsSchema.default({ python: 0, numpy: 1234, torch: 1234, fewshot: 1234 }).describe('seeds: one number, or python,numpy,torch,fewshot'),
  batch_size: z.union([z.int().positive(), z.string().regex(/^auto(:\d+(\.\d+)?)?$/)]).meta({ form: 'a whole number above 0, auto or auto:N' }).default('auto').describe('accepted; the engine batches by itself, 1 selects determinism: isolated'),
  max_batch_size: z.int().positive().optional().describe('accepted; becomes max_num_seqs'),
  device: z.string().optional().describe('accepted; the devices are found by the planner'),
  output_path: z.string().optional().describe('the run directory'),
  log_samples: z.boolean().default(true).describe('write samples_*.jsonl'),
  predict_only: z.boolean().default(false).describe('answers only, no metrics'),
  metadata: mapping.default({}).describe('JSON passed on to the tasks'),
  trust_remote_code: z.boolean().default(false).describe('let a model\'s or data set\'s own code run; recorded'),
  confirm_run_unsafe_code: z.boolean().default(false).describe('run tasks that execute code written by the model'),
  // ---- ours
  plan: z.union([z.literal('auto'), planRequestSchema]).default('auto').describe('auto, or data=2,tensor=1,pipeline=1,max_num_seqs=64,…'),
  limits: limitsSchema.default({}).describe('limits of each engine worker: memory=5GiB,kind=address_space'),
  scoring: z.enum(['exact', 'fast']).default('exact').describe('exact: lm_eval\'s own sampling parameters, request by request; fast is not in this version'),
  determinism: z.enum(['fast', 'strict', 'isolated']).optional().describe('fast (the default): batches as they come; strict: bit-equal reruns; isolated: each result depends on its request alone'),
  probe: z.boolean().default(true).describe('before the first request, run the largest step of this run with dummy data, so that what does not fit is found out first'),
  overlong: z.enum(['truncate', 'refuse']).default('truncate').describe('prompts longer than the context window: truncate cuts them and counts them, refuse ends the run before a model is loaded'),
  request_timeout: timeout.default(600).describe('seconds one request may take in the engine; then it counts as a try (max_tries)'),
  run_timeout: timeout.optional().describe('seconds one start of the run may take, no limit without it; the same command resumes it'),
  stall_timeout: timeout.default(300).describe('seconds a worker may go without progress before it is ended and its shard is given out again'),
  max_tries: z.int().positive().default(3).describe('tries of a request that ends in an engine error or in request_timeout'),
  waive_coverage: z.boolean().default(false).describe('give scores although requests are missing; recorded'),
  metrics: z.string().regex(/^[^:]+:\d+$/).refine((address) => Number(address.split(':')[1]) <= 65_535, 'ports end at 65535').meta({ form: 'HOST:PORT' }).optional().describe('HOST:PORT to serve Prometheus metrics on while the run lasts'),
});

export type RunConfig = z.output<typeof runConfigSchema>;
export type PlanRequest = z.output<typeof planRequestSchema>;
export type Determinism = NonNullable<RunConfig['determinism']>;

/** The tier in force: an explicit one, else what batch_size 1 means to lm_eval's users, else fast. */
export function effectiveDeterminism(config: Pick<RunConfig, 'determinism' | 'batch_size'>): Determinism {
  return config.determinism ?? (config.batch_size === 1 ? 'isolated' : 'fast');
}
