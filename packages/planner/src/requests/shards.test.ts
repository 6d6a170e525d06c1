import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildShardId, REQUEST_KINDS } from '@assay/domain';
import { orderRequests } from './order.ts';
import { buildIndex, type RequestFixture } from './request-index-fixture.ts';
import { cutShards } from './shards.ts';

const requests = fc.array(fc.record({
  kind: fc.constantFrom(...REQUEST_KINDS), context: fc.integer({ min: 1, max: 500 }), continuation: fc.nat(5), budget: fc.nat(200), group: fc.nat(80),
}), { maxLength: 300 });
const options = fc.record({ workers: fc.integer({ min: 1, max: 8 }), determinism: fc.constantFrom('fast', 'strict', 'isolated'), maxRequests: fc.constantFrom(5, 2000) });

function cut(fixtures: readonly RequestFixture[], given: { workers: number; determinism?: 'fast' | 'strict' | 'isolated'; maxRequests?: number }) {
  const index = buildIndex(fixtures);
  const order = orderRequests(index, { kvCacheTokens: 1e6 });
  return { index, order, shards: cutShards(order, index, { determinism: 'fast', ...given }) };
}

test('shards partition the order and are numbered in it', () => {
  fc.assert(fc.property(requests, options, (fixtures, given) => {
    const { shards } = cut(fixtures, given);
    expect(shards.map(({ id }) => id)).toEqual(shards.map((_, number) => buildShardId(number)));
    expect(shards.map(({ begin }) => begin)).toEqual([0, ...shards.map(({ end }) => end)].slice(0, shards.length));
    expect(shards.at(-1)?.end ?? 0).toBe(fixtures.length);
    expect(shards.every(({ begin, end, requests: count }) => count === end - begin && count > 0)).toBe(true);
  }));
});

test('no shard splits a prefix group or mixes kinds', () => {
  fc.assert(fc.property(requests, options, (fixtures, given) => {
    const { index, order, shards } = cut(fixtures, given);
    const { kind, prefixGroup } = index.columns;
    const nameAt = (place: number) => `${kind[order[place]!]}-${prefixGroup[order[place]!]}`;
    for (const { begin, end } of shards) {
      expect(new Set(order.subarray(begin, end).map((row) => kind[row]!)).size).toBe(1);
      if (begin > 0) expect(nameAt(begin)).not.toBe(nameAt(begin - 1));
      if (end < order.length) expect(nameAt(end)).not.toBe(nameAt(end - 1));
    }
  }));
});

test('strict cuts alike for any number of workers and whatever has been learned', () => {
  fc.assert(fc.property(requests, fc.integer({ min: 1, max: 16 }), (fixtures, workers) => {
    const { index, order, shards } = cut(fixtures, { workers: 1, determinism: 'strict' });
    expect(cutShards(order, index, { workers, determinism: 'strict', expectedNewTokens: () => 3 })).toEqual(shards);
  }));
});

test('four hundred requests make at least eight shards, large first and small at the end', () => {
  const { shards } = cut(Array.from({ length: 400 }, (_, row) => ({ context: 100 + (row % 7), budget: 30 })), { workers: 1 });
  expect(shards.length).toBeGreaterThanOrEqual(8);
  expect(shards[0]!.cost).toBeGreaterThan(5 * shards.at(-2)!.cost);
  expect(shards.every(({ cost }, place) => place < 1 || cost <= shards[place - 1]!.cost * 1.2)).toBe(true);
});

test('the last shards are small enough for workers to end together', () => {
  const { shards } = cut(Array.from({ length: 5000 }, (_, row) => ({ context: 1 + (row * 37) % 900, budget: 64 })), { workers: 4 });
  const total = shards.reduce((sum, { cost }) => sum + cost, 0);
  const busy = [0, 0, 0, 0];
  for (const { cost } of shards) busy[busy.indexOf(Math.min(...busy))]! += cost;
  expect(Math.max(...busy)).toBeLessThan((total / 4) * 1.02);
});

test('the number of shards and of requests in one is bounded', () => {
  const { shards } = cut(Array.from({ length: 60_000 }, (_, row) => ({ context: 20 + (row % 90) })), { workers: 64 });
  expect(shards.length).toBeLessThanOrEqual(5000);
  expect(Math.max(...shards.map(({ requests: count }) => count))).toBeLessThanOrEqual(2000);
});
