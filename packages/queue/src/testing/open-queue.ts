// Queues of a test, closed when it ends.
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { makeLog } from '../../../../test/support/quiet-log.ts';
import type { TestRedis } from '../../../../test/support/redis-fixture.ts';
import { createShardQueue, type ShardQueueOptions } from '../bullmq-queue.ts';
import type { ShardQueue } from '../shard-queue.ts';

/** Short, so that a lease that runs out does not keep a test waiting. */
export const QUICK = { lockMs: 1_000, stalledIntervalMs: 400, closeMs: 1_000 };

export async function openQueue(redis: Pick<TestRedis, 'address'>, options: Partial<ShardQueueOptions> = {}): Promise<ShardQueue> {
  const queue = await createShardQueue({ runId: randomUUID(), redis: redis.address, log: makeLog(), timing: QUICK, ...options });
  onTestFinished(() => queue.close());
  return queue;
}
