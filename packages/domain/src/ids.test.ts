import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildJobId, buildShardId } from './ids.ts';

/** BullMQ's rule for ids of its own jobs: no integers, and no colon unless there are exactly two. */
const isAccepted = (id: string): boolean => `${Number.parseInt(id, 10)}` !== id && (!id.includes(':') || id.split(':').length === 3);

const runIds = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '0', '123', '00123', 'run:1', 'run:1:2', 'run:1:2:3', 'run-1', '🙂', 'a/b', 'r.e1.s0001.a1', '%3A', ':'),
);
const shards = fc.tuple(fc.nat(), fc.array(fc.constantFrom('.0', '.1'), { maxLength: 3 })).map(([number, halves]) => buildShardId(number) + halves.join(''));
const attempts = fc.record({ runId: runIds, epoch: fc.nat(), shard: shards, attempt: fc.nat() });

const build = ({ runId, epoch, shard, attempt }: { runId: string; epoch: number; shard: string; attempt: number }) => buildJobId(runId, epoch, shard, attempt);

test('the id of any attempt of any run is accepted by the queue', () => {
  fc.assert(fc.property(attempts, (attempt) => {
    expect(isAccepted(build(attempt))).toBe(true);
    expect(build(attempt)).not.toContain(':');
  }));
});

test('different attempts have different ids', () => {
  fc.assert(fc.property(attempts, attempts, (one, other) => {
    fc.pre(JSON.stringify(one) !== JSON.stringify(other));
    expect(build(one)).not.toBe(build(other));
  }), { numRuns: 1000 });
});

test('an id cannot be read as another run\'s', () => {
  expect(buildJobId('r.e1.s0001.a1', 2, 's0002', 3)).not.toBe(buildJobId('r', 1, 's0001', 1));
  expect(buildJobId('a:b', 1, 's0001', 1)).not.toBe(buildJobId('a%3Ab', 1, 's0001', 1));
});

test('shards sort by their number as text', () => {
  expect([12, 3, 100].map(buildShardId).toSorted()).toEqual(['s0003', 's0012', 's0100']);
});
