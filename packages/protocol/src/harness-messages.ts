// What the pipeline says to the harness worker, and what it hears.
import { z } from 'zod';
import { exitSchema } from './engine-messages.ts';
import { count, id, mapping, nullable, seconds } from './fields.ts';
import { resultSchema, wireFloatSchema } from './result.ts';

/**
 * Builds the tasks' requests, tokenises them by the rules of lm_eval's vLLM backend and writes index.bin, tokens.bin,
 * params.json and docs.ndjson into `requestsDir` (each through a temporary file, index.bin last). Where index.bin is there
 * already, nothing is written and the reply's digest tells whether the requests are still the same.
 * The keys below `requestsDir` are those of the run's configuration.
 */
const renderSchema = z.strictObject({
  type: z.literal('render'),
  id,
  requestsDir: z.string(),
  model_args: mapping,
  tasks: z.array(z.string()),
  include_path: z.array(z.string()),
  num_fewshot: z.int().nonnegative().optional(),
  limit: z.number().positive().optional(),
  samples: z.record(z.string(), z.array(count)).optional(),
  gen_kwargs: mapping,
  apply_chat_template: z.union([z.boolean(), z.string()]),
  system_instruction: z.string().optional(),
  fewshot_as_multiturn: z.boolean().optional(),
  seed: z.strictObject({ python: z.int(), numpy: z.int(), torch: z.int(), fewshot: z.int() }),
  predict_only: z.boolean(),
  metadata: mapping,
  trust_remote_code: z.boolean(),
  confirm_run_unsafe_code: z.boolean(),
  overlong: z.enum(['truncate', 'refuse']),
});

/** Scores one task from its accepted final results (unordered). `waived`: score although some are missing. */
const scoreSchema = z.strictObject({
  type: z.literal('score'),
  id,
  task: count,
  waived: z.boolean(),
  results: z.array(resultSchema),
});

/** Writes results_<date>.json and samples_<task>_<date>.jsonl in lm_eval's shape into `scoresDir`. `config` and `extra` are merged in. */
const aggregateSchema = z.strictObject({
  type: z.literal('aggregate'),
  id,
  scoresDir: z.string(),
  date: z.string(),
  logSamples: z.boolean(),
  config: mapping,
  extra: mapping,
});

export const harnessCommandSchema = z.discriminatedUnion('type', [renderSchema, scoreSchema, aggregateSchema, exitSchema]);
export type HarnessCommand = z.output<typeof harnessCommandSchema>;

/** One task as rendered. Digests are sha256 in hex. `requests` counts rows of index.bin. The manifest has the same, and more. */
export const renderedTaskSchema = z.strictObject({
  task: z.string(),
  alias: z.string(),
  outputType: z.string(),
  version: z.union([z.string(), z.number()]),
  files: z.record(z.string(), z.string()).describe('sha256 of each file that defines the task'),
  datasetDigest: z.string(),
  promptsDigest: z.string(),
  documents: count,
  documentsTotal: count,
  requests: count,
  truncatedRequests: count,
  truncatedTokens: count,
  numFewshot: count,
  fewshotDocs: z.array(z.string()).describe('ids of the few-shot documents'),
  fewshotRule: z.string(),
  generationParameters: mapping,
  metrics: z.array(mapping),
  filters: z.array(mapping),
  repeats: z.int().positive(),
  firstTokens: z.array(count).describe('the first token ids of its first prompt'),
  unsafeCode: z.boolean(),
});

export const renderedSchema = z.strictObject({
  type: z.literal('rendered'),
  id,
  seconds,
  /** sha256 over index.bin, tokens.bin and params.json: the requests' identity. */
  digest: z.string(),
  requests: count,
  tokens: count,
  tasks: z.array(renderedTaskSchema),
  groups: mapping,
  maxModelLen: z.int().positive(),
  tokenizerDigest: z.string(),
  chatTemplate: nullable(z.string()),
  chatTemplateDigest: nullable(z.string()),
  /** Effective: what lm_eval makes of the setting and the template. */
  fewshotAsMultiturn: z.boolean(),
  bos: z.string(),
  seeds: mapping,
  warnings: z.array(z.string()),
});
export type Rendered = z.output<typeof renderedSchema>;

export const metricRowSchema = z.strictObject({
  task: z.string(),
  alias: z.string(),
  version: z.union([z.string(), z.number()]),
  filter: z.string(),
  numFewshot: z.union([count, z.string()]),
  metric: z.string(),
  /** null: it could not be computed; `error` says why. */
  value: z.union([wireFloatSchema, z.string(), z.null()]),
  stderr: nullable(wireFloatSchema),
  higherIsBetter: nullable(z.boolean()),
  error: z.string().optional(),
  group: z.boolean(),
});
export type MetricRow = z.output<typeof metricRowSchema>;

export const scoredSchema = z.strictObject({
  type: z.literal('scored'),
  id,
  task: count,
  seconds,
  rows: z.array(metricRowSchema),
  documents: count,
  scoredDocuments: count,
});
export type Scored = z.output<typeof scoredSchema>;

export const aggregatedSchema = z.strictObject({
  type: z.literal('aggregated'),
  id,
  seconds,
  resultsFile: z.string(),
  samplesFiles: z.array(z.string()),
  rows: z.array(metricRowSchema),
});
export type Aggregated = z.output<typeof aggregatedSchema>;
