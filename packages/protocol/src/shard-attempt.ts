// What travels through the queue: one attempt of a shard, by ids and ranges only. The prompts stay in the run directory.
import { z } from 'zod';

export const shardAttemptSchema = z.strictObject({
  runId: z.string().min(1),
  epoch: z.int().positive(),
  shard: z.string().min(1),
  attempt: z.int().positive(),
  /** Path relative to the run directory. */
  orderFile: z.string(),
  /** Places [begin, end) of the order. */
  begin: z.int().nonnegative(),
  end: z.int().nonnegative(),
});
export type ShardAttempt = z.output<typeof shardAttemptSchema>;
