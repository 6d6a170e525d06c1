// What an engine says of itself after the load, read back from its configuration objects and from every rank, never echoed. The
// worker builds it (apps/worker, engines/), engine.json and the manifest carry it, docs/run-directory.md lists its fields.
import { z } from 'zod';
import { bytes, count, nullable } from './fields.ts';

const texts = z.record(z.string(), z.string());
const cores = z.array(count);

/** Of the files of a model's folder; a model that is no local folder has a `problem` instead. */
const digestsSchema = z.strictObject({
  modelPath: z.string().optional(),
  problem: z.string().optional(),
  revision: z.string().optional().describe('commit of a hub snapshot'),
  weights: texts.optional().describe('sha256 by file'),
  configDigest: z.string().optional(),
  generationConfigDigest: z.string().optional(),
  tokenizerFiles: texts.optional(),
});

const modelSchema = z.strictObject({
  model: nullable(z.string()),
  architectures: z.array(z.string()),
  revision: nullable(z.string()),
  tokenizer: nullable(z.string()),
  tokenizerMode: z.string(),
  trustRemoteCode: z.boolean(),
  generationConfig: nullable(z.string()),
  vocabSize: count,
  digests: digestsSchema,
});

const numericsSchema = z.strictObject({
  dtype: z.string(),
  quantization: nullable(z.string()),
  kvCacheDtype: z.string(),
  seed: nullable(z.int()),
  enforceEager: z.boolean(),
  compilationMode: z.string(),
  cudagraphMode: z.string(),
  compilationBackend: nullable(z.string()),
  attentionBackends: z.array(z.string()),
  modelRunner: z.string(),
  logprobsMode: z.string(),
  speculative: z.boolean(),
});

const batchingSchema = z.strictObject({
  maxModelLen: count,
  maxNumSeqs: count,
  maxNumBatchedTokens: count,
  chunkedPrefill: z.boolean(),
  asyncScheduling: z.boolean(),
  policy: z.string(),
});

const cacheSchema = z.strictObject({
  prefixCaching: z.boolean(),
  blockSize: nullable(count),
  blocks: count,
  tokens: count,
  memoryBytes: nullable(bytes),
  memoryUtilization: nullable(z.number()),
});

/** A part of a model in a process of its own: what it holds and what it computes on, as it sees it itself. */
const rankSchema = z.strictObject({
  rank: count,
  pid: count,
  layers: z.array(count).describe('numbers of the attention layers it holds'),
  heads: z.array(count),
  kvHeads: z.array(count),
  device: z.string().describe('cpu or cuda:n, n counting among the devices that its process sees'),
  deviceName: nullable(z.string()),
  deviceBytes: nullable(bytes).describe('memory of the device'),
  runtime: nullable(z.string()),
  attentionBackends: z.array(z.string()),
  modelRunner: z.string(),
  threads: count,
  affinity: cores,
});

const hostSchema = z.strictObject({
  python: z.string(),
  platform: z.string(),
  libraries: texts,
  processor: z.strictObject({ model: z.string(), machine: z.string(), count: nullable(count), flags: z.array(z.string()) }),
  affinity: cores,
  devices: z.array(texts).describe('every NVIDIA device of the node as nvidia-smi lists it, whoever uses it'),
  environment: texts.describe('variables that change numerics'),
});

const runSettings = { host: hostSchema, determinism: z.enum(['fast', 'strict', 'isolated']), scoring: z.enum(['exact']), runSeed: z.int() };

const vllmSchema = z.strictObject({
  engine: z.literal('vllm'),
  simulated: z.literal(false),
  model: modelSchema,
  numerics: numericsSchema,
  batching: batchingSchema,
  cache: cacheSchema,
  parallel: z.strictObject({ tensor: count, pipeline: count, executor: z.string(), ranks: z.array(rankSchema).min(1) }),
  corrections: z.array(z.string()).describe('what Assay changes in this version of the engine at run time'),
  ...runSettings,
});

/** It computes nothing, so it has of these what tests of its surroundings need. */
const simulatedSchema = z.strictObject({
  engine: z.literal('simulated'),
  simulated: z.literal(true),
  model: modelSchema.pick({ model: true, vocabSize: true, digests: true }),
  numerics: numericsSchema.pick({ dtype: true, seed: true }),
  batching: batchingSchema.pick({ maxModelLen: true, maxNumSeqs: true, maxNumBatchedTokens: true }),
  cache: cacheSchema.pick({ prefixCaching: true }),
  parallel: z.strictObject({ tensor: count, pipeline: count, ranks: z.array(rankSchema) }),
  ...runSettings,
});

export const effectiveSchema = z.discriminatedUnion('engine', [vllmSchema, simulatedSchema]);
export type Effective = z.output<typeof effectiveSchema>;
export type Rank = z.output<typeof rankSchema>;
