import { expect, test } from 'vitest';
import { buildShardId } from './ids.ts';

test('shards sort by their number as text', () => {
  expect([12, 3, 100].map(buildShardId).toSorted()).toEqual(['s0003', 's0012', 's0100']);
});
