import { INDEX_COLUMNS, type RequestIndex } from '@assay/protocol';
import { expect, test } from 'vitest';
import { checkDiskNeed, estimateDiskNeed } from './disk-need.ts';

function buildIndex(count: number, newTokens: number): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(count)])) as Record<(typeof INDEX_COLUMNS)[number], Uint32Array>;
  columns.contextTokens.fill(1000);
  columns.newTokenBudget.fill(newTokens);
  return { count, tokenOffset: new BigUint64Array(count), columns };
}

test('the need grows with requests, prompts and budgets', () => {
  expect(estimateDiskNeed(buildIndex(0, 0))).toBe(0);
  expect(estimateDiskNeed(buildIndex(2000, 0))).toBe(2 * estimateDiskNeed(buildIndex(1000, 0)));
  expect(estimateDiskNeed(buildIndex(1000, 256))).toBeGreaterThan(estimateDiskNeed(buildIndex(1000, 0)));
});

test('sums beyond 32 bits are right, and a disk that cannot hold them is refused', async () => {
  const index = buildIndex(100_000, 2 ** 32 - 1);
  expect(estimateDiskNeed(index)).toBeGreaterThan(2 ** 48);
  await expect(checkDiskNeed('/', index)).rejects.toMatchObject({ code: 'DISK_FULL' });
});
