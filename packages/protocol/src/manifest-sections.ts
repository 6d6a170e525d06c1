// The parts of a manifest. What is recorded is what was effective, read back from the worker that did it; where a setting was
// also asked for, the wish stands beside it under `asked`. null: it does not exist here, or nobody could tell.
import { OUTCOME_NAMES, REQUEST_KINDS } from '@assay/domain';
import { z } from 'zod';
import { effectiveSchema } from './effective.ts';
import { count, mapping, nullable, seconds, sha256 } from './fields.ts';
import { answerTallySchema, headlineSchema, renderedTaskSchema } from './harness-messages.ts';

export const sealedFilesSchema = z.record(z.string(), z.strictObject({ sha256, bytes: count })).describe('by path in the run directory');

export const codeSchema = z.strictObject({
  version: z.string(),
  commit: nullable(z.string()).describe('null outside of the product\'s own checkout'),
  dirty: nullable(z.boolean()),
  node: z.string(),
  protocol: z.int().positive(),
});

/** A Python process's interpreter and libraries, as its `hello` said. */
const interpreter = { python: z.string(), packages: z.record(z.string(), z.string()).describe('version by library') };

export const harnessSchema = z.strictObject({
  name: z.literal('lm_eval'),
  version: z.string(),
  ...interpreter,
  trustRemoteCode: z.boolean(),
  unsafeCodeConfirmed: z.boolean(),
});

export const coverageSchema = z.strictObject({ requests: count, final: count, answered: count.describe('with an answer that a metric can use'), share: z.number().min(0).max(1).describe('answered of all requests') });
/** Of a task or of a run. */
export type Coverage = z.output<typeof coverageSchema>;

export const taskSchema = renderedTaskSchema.extend({
  coverage: coverageSchema,
  lengthShare: z.number().min(0).max(1).describe('share of the generated answers that their token budget cut off'),
  scoredDocuments: count.describe('documents that the score is over; the others have no answer'),
  headline: headlineSchema.describe('what became of the score where documents have no answer'),
  answers: answerTallySchema,
});

export const promptsSchema = z.strictObject({
  digest: z.string().describe('over index.bin, tokens.bin and params.json'),
  requests: count,
  tokens: count,
  tokenizerDigest: z.string(),
  chatTemplate: nullable(z.string()).describe('the text that was applied'),
  chatTemplateDigest: nullable(z.string()),
  systemInstruction: nullable(z.string()),
  fewshotAsMultiturn: nullable(z.boolean()),
  bos: z.string().describe('how a first token is added'),
  overlong: z.enum(['truncate', 'refuse']),
});

export const modelSchema = z.strictObject({
  name: z.string().describe('as asked'),
  path: nullable(z.string()),
  revision: nullable(z.string()),
  type: nullable(z.string()).describe('model_type of its config.json'),
  configDigest: nullable(z.string()),
  weights: z.strictObject({ digest: nullable(z.string()).describe('over the files\' digests'), files: z.record(z.string(), z.string()), bytes: count }),
  tokenizerDigest: z.string(),
});

export const engineSchema = z.strictObject({
  name: z.enum(['vllm', 'simulated']),
  version: z.string(),
  ...interpreter,
  asked: mapping.describe('engine arguments as given by the user and the plan'),
  effective: effectiveSchema.describe('read back from the engine'),
  environment: z.record(z.string(), z.string()).describe('variables that change numerics, as the worker saw them'),
});

export const deviceSchema = z.strictObject({
  kind: z.enum(['cpu', 'cuda', 'rocm', 'xpu', 'tpu', 'none']),
  name: z.string().describe('of what the ranks computed on; more than one where they differ'),
  count: count.describe('GPUs that a rank computed on, or cores that the ranks could use'),
  memoryBytes: nullable(count).describe('of the smallest of the GPUs'),
  driver: nullable(z.string()),
  runtime: nullable(z.string()).describe('CUDA or ROCm version that the engine computes with; null on a CPU'),
  devices: z.array(z.strictObject({
    id: z.string().describe('UUID of the GPU or slice that was leased'),
    worker: z.string().describe('the replica that had it'),
    name: z.string(),
    memoryBytes: nullable(count),
  })).describe('the GPUs of each rank; none on a CPU'),
});

export const planSchema = z.strictObject({
  asked: z.union([z.literal('auto'), mapping]),
  data: z.int().positive(),
  tensor: z.int().positive(),
  pipeline: z.int().positive(),
  maxNumSeqs: nullable(count),
  maxNumBatchedTokens: nullable(count),
  maxModelLen: nullable(count),
  rung: count.describe('0: as planned'),
  reasons: z.array(z.string()),
  memoryTerms: z.record(z.string(), z.number()).describe('bytes of each term of the estimate'),
});

export const probeRungSchema = z.strictObject({
  rung: count,
  verdict: z.enum(['fits', 'oom', 'failed', 'skipped']),
  plan: mapping,
  seconds,
  predictedBytes: nullable(count),
  measuredBytes: nullable(count),
  failure: nullable(z.string()),
  failed: z.string().optional().describe('whose failure it is: the replica and its devices'),
  remembered: z.boolean().optional().describe('an earlier run has found it: this plan was not tried again'),
});

export const rungTakenSchema = z.strictObject({
  epoch: count,
  from: count,
  to: count,
  why: z.string(),
  shard: nullable(z.string()).describe('the shard in which it happened; null: before the first request'),
});

export const orderSchema = z.strictObject({
  epoch: z.int().positive(),
  rule: z.string(),
  digest: z.string(),
  rows: count,
  shards: count,
  expectedNewTokens: z.record(z.string(), count).optional().describe('by task: the 90th percentile of earlier runs\' answers, where it stood for the budget in this order'),
});

export const workerSchema = z.strictObject({
  worker: z.string(),
  role: z.enum(['engine', 'harness', 'redis']),
  epoch: count,
  pid: count,
  startedAt: z.iso.datetime(),
  endedAt: nullable(z.iso.datetime()),
  exitCode: nullable(z.int()),
  signal: nullable(z.string()),
  peakBytes: nullable(count),
});

const outcomeCounts = z.strictObject(Object.fromEntries(OUTCOME_NAMES.map((name) => [name, count])) as Record<(typeof OUTCOME_NAMES)[number], typeof count>);

export const outcomesSchema = z.strictObject(
  Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, outcomeCounts])) as Record<(typeof REQUEST_KINDS)[number], typeof outcomeCounts>,
);

export const resultsSchema = z.strictObject({
  files: sealedFilesSchema,
  duplicates: count.describe('final results beyond the first of their request'),
  tornLines: count,
  fencedBytes: count.describe('bytes beyond the fence of their attempt'),
  openTries: count.describe('outcomes that did not end their request'),
  failedAttempts: count,
});
