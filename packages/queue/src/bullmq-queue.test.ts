import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Queue } from 'bullmq';
import { buildShardId } from '@assay/domain';
import { describe, expect, test } from 'vitest';
import { startTestRedis } from '../../../test/support/redis-fixture.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { parseQueueId, toQueueId } from './queue-id.ts';
import { connect, toConnection } from './redis-address.ts';
import { buildShardAttempt, SHARD_QUEUE_GUARANTEES } from './shard-queue-conformance.ts';
import { openQueue } from './testing/open-queue.ts';

describe('the queue on BullMQ', () => {
  test.each(Object.entries(SHARD_QUEUE_GUARANTEES))('%s', async (_, prove) => {
    expect.hasAssertions();
    const redis = await startTestRedis({ isDurable: false });
    const runId = `run:${randomUUID()}`;
    await prove({ runId, open: () => openQueue(redis, { runId }) });
  });

  test('leaves no key behind after clear, and few events while it runs', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const client = connect(redis.address);
    const runId = 'a[b]*c';
    const queue = await openQueue(redis, { runId });
    const other = await openQueue(redis, { runId: 'abcXc' });
    await other.add([buildShardAttempt('abcXc', 0)]);
    let done = 0;
    const consumer = await queue.consume({ concurrency: 8, run: async () => { done += 1; } });
    await queue.add(Array.from({ length: 1_500 }, (_, number) => buildShardAttempt(runId, number)));
    await waitUntil('all shards', () => done === 1_500);
    await consumer.close(true);
    expect(await client.xlen(`bull:assay-${runId}:events`)).toBeLessThan(500);
    await queue.clear();
    expect((await client.keys('*')).filter((key) => !key.startsWith('bull:assay-abcXc:'))).toEqual([]);
    expect(await other.counts()).toMatchObject({ waiting: 1 });
    client.disconnect();
  });
});

describe('ids in the queue', () => {
  test('whatever the run is called, BullMQ takes the id and it reads back', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const queue = new Queue('ids', { connection: toConnection(redis.address) });
    const names = ['123', '00123', '0', 'run:1', 'run:1:2', 'run:1:2:3', 'run-1', 'emoji 🦊', 'a/b', ''];
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.constantFrom(...names), fc.string({ unit: 'grapheme' })), fc.nat(), fc.integer({ min: 1 }), async (runId, number, attempt) => {
        const key = { epoch: 3, shard: `${buildShardId(number)}.1`, attempt };
        const id = toQueueId(runId, key);
        expect((await queue.add('shard', {}, { jobId: id })).id).toBe(id);
        expect(parseQueueId(id)).toEqual(key);
      }),
      { numRuns: 60 },
    );
    await queue.close();
  });
});
