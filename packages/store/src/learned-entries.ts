// The four lists of learned-*.json: peaks against the memory model, verdicts of probes, seconds a unit of work, lengths of answers.
// Each entry names the weights, the engine's build and the device it was shown on; it says nothing about any other.
import { z } from 'zod';
import { LearnedFile } from './learned-file.ts';

const subject = { weights: z.string(), engine: z.string(), device: z.string() };
const at = z.iso.datetime();
const bytes = z.int().nonnegative();
const seconds = z.number().positive();

const memorySchema = z.object({
  ...subject,
  at,
  /** MEMORY_MODEL: of the estimate it was held against. */
  model: z.int(),
  kind: z.enum(['resident', 'address_space', 'device']),
  /** Digest of what the estimate was made for: a setting counts once. */
  setting: z.string(),
  transientBytes: bytes,
  predictedBytes: z.int().positive(),
  measuredBytes: z.int().positive(),
});

const verdictSchema = z.object({
  ...subject,
  at,
  /** Digests of the plan with the engine's arguments, and of the worst steps. */
  plan: z.string(),
  shape: z.string(),
  verdict: z.enum(['fits', 'oom']),
  /** Memory that a rank might take then. */
  roomBytes: bytes,
  where: z.enum(['weights', 'kv', 'activation', 'logits', 'graph']).optional(),
  message: z.string().optional(),
  allocationBytes: bytes.optional(),
});

const speedSchema = z.object({
  ...subject,
  at,
  /** Digest of what speed depends on: type, threads, ranks, sequences. */
  setting: z.string(),
  /** Seconds a unit of work on one replica. */
  rates: z.record(z.string(), z.number().positive()),
  /** Parts of the run beside what the roofline says of them uncorrected. */
  times: z.partialRecord(z.enum(['start', 'load', 'prefill', 'decode']), z.object({ predictedSeconds: seconds, measuredSeconds: seconds })).optional(),
});

const lengthsSchema = z.object({
  ...subject,
  at,
  /** Digest of what the answers' lengths depend on beside the weights: the task as it is defined and sampled. */
  task: z.string(),
  answers: z.int().positive(),
  meanTokens: z.number().nonnegative(),
  p90Tokens: z.int().nonnegative(),
});

export type LearnedMemory = z.output<typeof memorySchema>;
export type LearnedVerdict = z.output<typeof verdictSchema>;
export type LearnedSpeed = z.output<typeof speedSchema>;
export type LearnedLengths = z.output<typeof lengthsSchema>;

export function learnedMemory(home: string): LearnedFile<LearnedMemory> {
  return new LearnedFile({ home, name: 'memory', entry: memorySchema, mostEntries: 512 });
}

export function learnedVerdicts(home: string): LearnedFile<LearnedVerdict> {
  return new LearnedFile({ home, name: 'verdicts', entry: verdictSchema, mostEntries: 512 });
}

export function learnedSpeeds(home: string): LearnedFile<LearnedSpeed> {
  return new LearnedFile({ home, name: 'speeds', entry: speedSchema, mostEntries: 512 });
}

export function learnedLengths(home: string): LearnedFile<LearnedLengths> {
  return new LearnedFile({ home, name: 'lengths', entry: lengthsSchema, mostEntries: 2048 });
}
