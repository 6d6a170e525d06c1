import { expect, test } from 'vitest';
import { buildShardId, formatAttempt, parseAttempt } from './ids.ts';

test('shards sort by their number as text', () => {
  expect([12, 3, 100].map(buildShardId).toSorted()).toEqual(['s0003', 's0012', 's0100']);
});

test.each([
  [{ epoch: 1, shard: 's0007', attempt: 2 }, '1-s0007-2'],
  [{ epoch: 12, shard: 's0007.0.1', attempt: 10 }, '12-s0007.0.1-10'],
])('an attempt is read back from its text', (key, text) => {
  expect(formatAttempt(key)).toBe(text);
  expect(parseAttempt(text)).toEqual(key);
});

test.each(['', '1-s0007', 's0007-1-1', '1-s0007-2.ndjson', '1-x-2', ' 1-s0007-2'])('%o names no attempt', (text) => {
  expect(parseAttempt(text)).toBeUndefined();
});
