// What a schema cannot say: rules between keys, paths made absolute, and what an accepted value becomes.
import { resolve } from 'node:path';
import { AssayError, type RunConfig } from '@assay/domain';
import type { KeyPath } from './config-file.ts';
import { suggestModel, SUPPORTED_MODELS } from './models.ts';

interface Origins {
  cwd: string;
  placeOf(path: KeyPath): string;
  /** True where a file or flag set the key. */
  isGiven(key: keyof RunConfig): boolean;
}

type Rule = (config: RunConfig, origins: Origins) => string | undefined;

/** Pairs of key and check; a check returns what is wrong. */
const RULES: readonly (readonly [keyof RunConfig, Rule])[] = [
  ...(['model_args', 'gen_kwargs', 'metadata'] as const).map((key) => [key, (config: RunConfig) => findUnwritable(config[key])] as const),
  ['scoring', (config) => (config.scoring === 'fast' ? 'fast is not in this version: use exact' : undefined)],
  ['limits', ({ limits }) => (limits.kind !== undefined && limits.memory === undefined ? 'kind says how memory is enforced, and no memory is given' : undefined)],
  ['samples', (config) => (config.samples && config.limit !== undefined ? 'samples and limit exclude each other' : undefined)],
  ['fewshot_as_multiturn', (config) => (config.fewshot_as_multiturn === true && config.apply_chat_template === false ? 'needs apply_chat_template' : undefined)],
  ['model_args', (config) => (config.model === 'vllm' && typeof config.model_args.pretrained !== 'string' ? 'pretrained is missing, or not a text: the folder or hub id of the model' : undefined)],
  ['model_args', (config) => (config.model_args.max_length !== undefined && config.model_args.max_model_len !== undefined ? 'max_length and max_model_len exclude each other' : undefined)],
  ['output_path', (config) => (config.output_path?.endsWith('.json') ? 'expected a folder: a run writes more than one file' : undefined)],
];

export function finishConfig(config: RunConfig, origins: Origins): { config: RunConfig; notes: string[] } {
  checkModelName(config.model);
  for (const [key, rule] of RULES) {
    const problem = rule(config, origins);
    if (problem !== undefined) throw new AssayError('CONFIG_VALUE', { place: origins.placeOf([key]), key, problem });
  }
  const tasks = [...new Set(config.tasks)];
  if (tasks.length === 0) throw new AssayError('TASK_NONE', { pattern: 'an empty list' });
  const finished: RunConfig = {
    ...config,
    tasks: tasks.map((task) => resolveTask(task, origins.cwd)),
    include_path: config.include_path.map((folder) => resolve(origins.cwd, folder)),
    log_samples: config.log_samples || config.predict_only,
  };
  return { config: finished, notes: collectNotes(config, tasks, origins) };
}

/** JSON, in which all of this is kept and sent, has no such numbers. */
function findUnwritable(value: unknown, path = ''): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${path || 'it'} is ${value}, not a finite number`;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).map(([key, entry]) => findUnwritable(entry, path ? `${path}.${key}` : key)).find((problem) => problem !== undefined);
}

function checkModelName(model: string): void {
  if (!SUPPORTED_MODELS.includes(model)) throw new AssayError('MODEL_TYPE', { model, instead: suggestModel(model) });
}

/** A task given as a path is made absolute: the harness works in another folder. Names and globs of names stay. */
function resolveTask(task: string, cwd: string): string {
  return /\.ya?ml$/.test(task) || /^(\.{1,2})?\//.test(task) ? resolve(cwd, task) : task;
}

function collectNotes(config: RunConfig, tasks: string[], { isGiven }: Origins): string[] {
  const notes: string[] = [];
  if (tasks.length < config.tasks.length) notes.push(`tasks named twice are run once: ${[...new Set(config.tasks.filter((task, place) => config.tasks.indexOf(task) !== place))].join(', ')}`);
  if (isGiven('batch_size')) notes.push(explainBatchSize(config));
  if (config.max_batch_size !== undefined) notes.push(explainMaxBatchSize(config));
  if (config.device !== undefined) notes.push(`device ${config.device} is recorded only: the planner finds the devices; CUDA_VISIBLE_DEVICES chooses among them`);
  if (config.predict_only && !config.log_samples) notes.push('predict_only writes samples, so log_samples is on');
  return notes;
}

function explainBatchSize({ batch_size: size, determinism }: RunConfig): string {
  if (size === 1 && determinism === undefined) return 'batch_size 1 selects determinism: isolated (one sequence at a time, each result depends on its request alone); batch_size auto is faster';
  return `batch_size ${size} sets nothing: the engine batches by itself, up to max_num_seqs sequences and max_num_batched_tokens tokens a step`;
}

function explainMaxBatchSize({ max_batch_size: size, plan }: RunConfig): string {
  if (plan !== 'auto' && plan.max_num_seqs !== undefined) return `max_batch_size ${size} gives way to plan.max_num_seqs ${plan.max_num_seqs}`;
  return `max_batch_size ${size} becomes max_num_seqs ${size}`;
}
