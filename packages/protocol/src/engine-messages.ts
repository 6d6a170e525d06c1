// What the agent says to an engine worker, and what it hears. Every command has an `id`; its reply repeats it.
import { REQUEST_KINDS } from '@assay/domain';
import { z } from 'zod';
import { effectiveSchema } from './effective.ts';
import { failureSchema } from './failure.ts';
import { bytes, count, id, seconds } from './fields.ts';
import { resultSchema } from './result.ts';

/**
 * Loads the model. `engineArgs` are vLLM's EngineArgs by name. `env` is set before the engine is built. `addressSpaceBytes`
 * is enforced with RLIMIT_AS after the imports. `seed` is the run's, from which a sampled request's own seed is derived.
 */
const loadSchema = z.strictObject({
  type: z.literal('load'),
  id,
  engine: z.enum(['vllm', 'simulated']),
  requestsDir: z.string(),
  engineArgs: z.record(z.string(), z.unknown()),
  env: z.record(z.string(), z.string()),
  addressSpaceBytes: bytes.optional(),
  scoring: z.enum(['exact']),
  determinism: z.enum(['fast', 'strict', 'isolated']),
  requestTimeoutSeconds: z.number().positive(),
  seed: z.int(),
});

/** One dummy step: a longest request with its scoring rows on, filled up to the batch limits, then one decode step. Tokens. */
const probeStepSchema = z.strictObject({
  kind: z.enum(REQUEST_KINDS),
  contextTokens: count,
  continuationTokens: count,
  newTokens: count,
  sequences: z.int().positive(),
});

const probeSchema = z.strictObject({ type: z.literal('probe'), id, steps: z.array(probeStepSchema) });

/**
 * Runs the requests at places [begin, end) of `orderFile` (u32 little-endian rows, path relative to the run directory),
 * except the rows in `skip`, which have a final result already.
 */
const shardSchema = z.strictObject({
  type: z.literal('shard'),
  id,
  shard: z.string(),
  epoch: z.int().positive(),
  attempt: z.int().positive(),
  orderFile: z.string(),
  begin: count,
  end: count,
  skip: z.array(count),
});

/** Forget a shard that has been given to another worker; no reply. */
const cancelSchema = z.strictObject({ type: z.literal('cancel'), shard: z.string(), attempt: z.int().positive() });

/** Finish what is in the engine, then end. No reply: the process exits 0. */
export const exitSchema = z.strictObject({ type: z.literal('exit') });

export const engineCommandSchema = z.discriminatedUnion('type', [loadSchema, probeSchema, shardSchema, cancelSchema, exitSchema]);
export type EngineCommand = z.output<typeof engineCommandSchema>;
export type ProbeStep = z.output<typeof probeStepSchema>;

export const helloSchema = z.strictObject({
  type: z.literal('hello'),
  protocol: z.int(),
  role: z.enum(['engine', 'harness']),
  pid: z.int(),
  python: z.string(),
  packages: z.record(z.string(), z.string()),
});

/**
 * Sent every second. `progress` never falls and rises with every engine step, loaded part or scored task, so a worker that
 * lives but does nothing can be told from one that works. Sums are since the worker's start.
 */
export const heartbeatSchema = z.strictObject({
  type: z.literal('heartbeat'),
  state: z.enum(['waiting', 'loading', 'ready', 'busy', 'draining']),
  progress: count,
  rssBytes: bytes,
  peakBytes: bytes,
  steps: count,
  busySeconds: seconds,
  promptTokens: count,
  newTokens: count,
  runningRequests: count,
  waitingRequests: count,
});
export type Heartbeat = z.output<typeof heartbeatSchema>;

/** `effective` is read back from the engine, never echoed from the command. */
export const loadedSchema = z.strictObject({
  type: z.literal('loaded'),
  id,
  seconds,
  peakBytes: bytes,
  effective: effectiveSchema,
});
export type Loaded = z.output<typeof loadedSchema>;

/** `addressSpaceBytes`: the most that one of the worker's processes has reserved since it started, touched or not. */
export const probedSchema = z.strictObject({
  type: z.literal('probed'),
  id,
  verdict: z.enum(['fits', 'oom', 'failed']),
  seconds,
  peakBytes: bytes,
  addressSpaceBytes: bytes.optional(),
  steps: z.array(z.strictObject({ kind: z.enum(REQUEST_KINDS), seconds, peakBytes: bytes })),
  failure: failureSchema.optional(),
});
export type Probed = z.output<typeof probedSchema>;

export const resultsSchema = z.strictObject({
  type: z.literal('results'),
  shard: z.string(),
  epoch: z.int().positive(),
  attempt: z.int().positive(),
  results: z.array(resultSchema),
});
export type ResultsMessage = z.output<typeof resultsSchema>;

/** `firstStepAt` is in Unix seconds. `batch`: running sequences a step, as observed over this shard. */
export const shardDoneSchema = z.strictObject({
  type: z.literal('shard_done'),
  id,
  shard: z.string(),
  epoch: z.int().positive(),
  attempt: z.int().positive(),
  requests: count,
  seconds,
  firstStepAt: z.number().nonnegative(),
  promptTokens: count,
  cachedTokens: count,
  newTokens: count,
  steps: count,
  batch: z.strictObject({ median: z.number().nonnegative(), max: count }),
  peakBytes: bytes,
});
export type ShardDone = z.output<typeof shardDoneSchema>;

/** Reply to a command that could not be done. */
export const failedSchema = z.strictObject({ type: z.literal('failed'), id, failure: failureSchema });
