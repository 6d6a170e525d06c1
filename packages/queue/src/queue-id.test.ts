import { buildShardId } from '@assay/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQueueId, toQueueId } from './queue-id.ts';

/** BullMQ's rule for ids of its own jobs: no integers, and no colon unless there are exactly two. */
const isAccepted = (id: string): boolean => `${Number.parseInt(id, 10)}` !== id && (!id.includes(':') || id.split(':').length === 3);

const runIds = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '0', '123', '00123', 'run:1', 'run:1:2', 'run:1:2:3', 'run-1', '🙂', 'a/b', 'r.1-s0001-1', '%3A', ':'),
);
const shards = fc.tuple(fc.nat(), fc.array(fc.constantFrom('.0', '.1'), { maxLength: 3 })).map(([number, halves]) => buildShardId(number) + halves.join(''));
const attempts = fc.record({ runId: runIds, epoch: fc.nat(), shard: shards, attempt: fc.nat() });

test('the id of any attempt of any run is accepted by the queue', () => {
  fc.assert(fc.property(attempts, ({ runId, ...key }) => {
    expect(isAccepted(toQueueId(runId, key))).toBe(true);
    expect(toQueueId(runId, key)).not.toContain(':');
  }));
});

test('different attempts have different ids', () => {
  fc.assert(fc.property(attempts, attempts, ({ runId: one, ...key }, { runId: other, ...otherKey }) => {
    fc.pre(one !== other || JSON.stringify(key) !== JSON.stringify(otherKey));
    expect(toQueueId(one, key)).not.toBe(toQueueId(other, otherKey));
  }), { numRuns: 1000 });
});

test('an id is read back as its attempt', () => {
  fc.assert(fc.property(attempts, ({ runId, ...key }) => {
    expect(parseQueueId(toQueueId(runId, key))).toEqual(key);
  }));
  expect(['', '7', 'repeat:1:2', 's0001-1'].map(parseQueueId)).toEqual([undefined, undefined, undefined, undefined]);
});

test('an id cannot be read as another run\'s', () => {
  const key = { epoch: 1, shard: 's0001', attempt: 1 };
  expect(toQueueId('r.1-s0001-1', { epoch: 2, shard: 's0002', attempt: 3 })).not.toBe(toQueueId('r', key));
  expect(toQueueId('a:b', key)).not.toBe(toQueueId('a%3Ab', key));
});
