// A result: what the engine said to one request. The line format of results/*.ndjson.
import { OUTCOME_NAMES } from '@assay/domain';
import { z } from 'zod';
import { NON_FINITE } from './ndjson.ts';

export const wireFloatSchema = z.union([z.number(), z.enum(NON_FINITE)]);

/**
 * `row` is the request's place in requests/index.bin; (task, ordinal, repeat, window) is its key and is repeated here so that
 * a results file can be read alone. Log-probabilities are natural logarithms summed over the continuation's tokens.
 */
export const resultSchema = z.strictObject({
  row: z.int().nonnegative(),
  task: z.int().nonnegative(),
  ordinal: z.int().nonnegative(),
  repeat: z.int().nonnegative(),
  window: z.int().nonnegative(),
  outcome: z.enum(OUTCOME_NAMES as [string, ...string[]]).transform((name) => name as (typeof OUTCOME_NAMES)[number]),
  logprob: wireFloatSchema.optional(),
  greedy: z.boolean().optional(),
  text: z.string().optional(),
  finish: z.enum(['stop', 'length']).optional(),
  newTokens: z.int().nonnegative().optional(),
  cachedTokens: z.int().nonnegative().optional(),
  message: z.string().optional(),
});
export type Result = z.output<typeof resultSchema>;
