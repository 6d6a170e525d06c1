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
  documents: count.describe('documents asked: all of the task\'s, but for limit and samples'),
  documentsTotal: count.describe('documents that the task has'),
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

const partialSchema = z.strictObject({
  answered: count.describe('documents that the score is over'),
  failed: count.describe('documents without an answer'),
  answeredOnly: nullable(wireFloatSchema).describe('over the documents answered'),
  failuresAsWrong: nullable(wireFloatSchema).describe('over all documents, those without an answer counted as wrong; null where the metric has no worst value'),
});

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
  /** Of a group's row: over what its value is a mean. A group whose parts differ in size has a row for each. */
  mean: z.enum(['by_sample', 'by_task']).optional(),
  /** Where documents have no answer: the score under both names, also where `value` is withheld. */
  partial: partialSchema.optional(),
});
export type MetricRow = z.output<typeof metricRowSchema>;

/** Of the documents that were scored. */
export const answerTallySchema = z.strictObject({
  truncatedDocuments: count.describe('documents with a prompt that was cut to fit the window'),
  generated: count.describe('generated answers'),
  unfinishedThoughts: count.describe('answers that ended inside the model\'s thinking; they are scored as empty'),
  controlCharacters: count.describe('answers with control characters, which are left out when they are scored'),
  repeated: count.describe('requests that were answered more than once'),
  copied: count.describe('those of them whose answers are all the same text'),
});
export type AnswerTally = z.output<typeof answerTallySchema>;

/**
 * `partial`: some documents have no answer, few enough for a score over the rest. `withheld`: too many, and no score is given.
 * `waived`: too many, or requests are missing, and the score is given because waive_coverage asks for it.
 */
export const headlineSchema = z.enum(['whole', 'partial', 'waived', 'withheld']);

export const scoredSchema = z.strictObject({
  type: z.literal('scored'),
  id,
  task: count,
  seconds,
  rows: z.array(metricRowSchema),
  documents: count,
  scoredDocuments: count,
  headline: headlineSchema,
  answers: answerTallySchema,
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
