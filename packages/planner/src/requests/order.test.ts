import fc from 'fast-check';
import { expect, test } from 'vitest';
import { REQUEST_KINDS } from '@assay/domain';
import { digestOrder, orderRequests } from './order.ts';
import { buildIndex, type RequestFixture } from './request-index-fixture.ts';
import { GENERATE, longestLengths } from './request-lengths.ts';
import { cutShards } from './shards.ts';

const requests = fc.array(fc.record({
  kind: fc.constantFrom(...REQUEST_KINDS),
  task: fc.nat(3),
  context: fc.integer({ min: 1, max: 60 }),
  continuation: fc.nat(5),
  budget: fc.nat(40),
  group: fc.oneof(fc.nat(12), fc.integer({ min: 0, max: 2 ** 31 })),
  head: fc.nat(3),
  headTokens: fc.constant(20),
}), { minLength: 1, maxLength: 60 });
const options = fc.record({ kvCacheTokens: fc.constantFrom(1, 50, 1e6), seed: fc.option(fc.nat(), { nil: undefined }), history: fc.option(fc.nat(30), { nil: undefined }) });

function order(fixtures: readonly RequestFixture[], { kvCacheTokens, seed, history }: { kvCacheTokens: number; seed?: number | undefined; history?: number | undefined }) {
  const index = buildIndex(fixtures);
  const rows = orderRequests(index, { kvCacheTokens, ...(seed === undefined ? {} : { seed }), ...(history === undefined ? {} : { expectedNewTokens: () => history }) });
  return { index, rows: [...rows] };
}

test('the order is a permutation of the rows', () => {
  fc.assert(fc.property(requests, options, (fixtures, given) => {
    const { rows } = order(fixtures, given);
    expect(rows.toSorted((a, b) => a - b)).toEqual(fixtures.map((_, row) => row));
  }));
});

test('kinds stay together, and the longest request of each opens it whatever the grouping', () => {
  fc.assert(fc.property(requests, options, (fixtures, given) => {
    const { index, rows } = order(fixtures, given);
    const { kind } = index.columns;
    const lengths = longestLengths(index);
    const openers = rows.filter((row, place) => place === 0 || kind[row] !== kind[rows[place - 1]!]);
    expect(new Set(openers.map((row) => kind[row])).size).toBe(openers.length);
    for (const opener of openers) {
      const longest = Math.max(...rows.filter((row) => kind[row] === kind[opener]).map((row) => lengths[row]!));
      expect(lengths[opener]).toBe(longest);
    }
    if (fixtures.some(({ kind: name }) => name === 'generate_until')) expect(kind[rows[0]!]).toBe(GENERATE);
    else expect(lengths[rows[0]!]).toBe(Math.max(...lengths));
  }));
});

test('the members of a prefix group stay together', () => {
  fc.assert(fc.property(requests, options, (fixtures, given) => {
    const { index, rows } = order(fixtures, given);
    const names = rows.map((row) => `${index.columns.kind[row]}-${index.columns.prefixGroup[row]}`);
    const starts = names.filter((name, place) => name !== names[place - 1]);
    expect(new Set(starts).size).toBe(starts.length);
  }));
});

test('heads stay contiguous when all of them exceed half of the cache, and length rules when they fit', () => {
  const fixtures = [
    { kind: 'loglikelihood', context: 100, head: 1, headTokens: 60 },
    { kind: 'loglikelihood', context: 90, head: 2, headTokens: 60 },
    { kind: 'loglikelihood', context: 80, head: 1, headTokens: 60 },
    { kind: 'loglikelihood', context: 70, head: 2, headTokens: 60 },
    { kind: 'loglikelihood', context: 85 },
  ] satisfies RequestFixture[];
  expect(order(fixtures, { kvCacheTokens: 240 }).rows).toEqual([0, 1, 4, 2, 3]);
  expect(order(fixtures, { kvCacheTokens: 239 }).rows).toEqual([0, 2, 1, 3, 4]);
});

test('equal lengths go in lexicographic order of their prefix groups, or shuffled by a seed', () => {
  const fixtures = Array.from({ length: 20 }, (_, row) => ({ context: 9, group: 40 - row }));
  expect(order(fixtures, { kvCacheTokens: 1 }).rows).toEqual(fixtures.map((_, row) => 19 - row));
  const shuffled = order(fixtures, { kvCacheTokens: 1, seed: 7 }).rows;
  expect(shuffled).not.toEqual(order(fixtures, { kvCacheTokens: 1 }).rows);
  expect(shuffled).toEqual(order(fixtures, { kvCacheTokens: 1, seed: 7 }).rows);
});

test('one long document among a thousand is first of its kind, for scoring and for generation', () => {
  const fixtures = [...Array.from({ length: 999 }, () => ({ kind: 'loglikelihood' as const, context: 200 })), { kind: 'loglikelihood' as const, context: 7900 },
    ...Array.from({ length: 999 }, () => ({ context: 200, budget: 256 })), { context: 7900, budget: 256 }];
  const { rows } = order(fixtures, { kvCacheTokens: 1e5 });
  expect(rows[0]).toBe(1999);
  expect(rows[1000]).toBe(999);
});

test.each([1, 2, 4, 7])('%i workers find each document\'s own answer, in batches of any size', (workers) => {
  const lengths = [5, 1, 9, 9, 3, 9, 2];
  const index = buildIndex(lengths.map((context) => ({ context })));
  const ordered = orderRequests(index, { kvCacheTokens: 1 });
  expect([...ordered]).toEqual([2, 3, 5, 0, 4, 6, 1]);
  // An engine that is shown a prompt, never its row, and that answers the shortest of a batch first.
  const prompts = lengths.map((length, document) => ({ length, text: `document ${document}` }));
  for (const size of [1, 2, 4, 7]) {
    const answers: string[][] = lengths.map(() => []);
    for (const { begin, end } of cutShards(ordered, index, { workers, determinism: 'fast' })) {
      for (let at = begin; at < end; at += size) {
        const batch = [...ordered.subarray(at, Math.min(end, at + size))].map((row) => ({ row, prompt: prompts[row]! }));
        for (const { row, prompt } of batch.toSorted((a, b) => a.prompt.length - b.prompt.length)) answers[row]!.push(prompt.text);
      }
    }
    expect(answers).toEqual([['document 0'], ['document 1'], ['document 2'], ['document 3'], ['document 4'], ['document 5'], ['document 6']]);
  }
});

test('ordering a subset takes exactly that subset', () => {
  const index = buildIndex(Array.from({ length: 100 }, (_, row) => ({ context: row + 1 })));
  const subset = Uint32Array.from({ length: 10 }, (_, row) => row);
  expect([...orderRequests(index, { kvCacheTokens: 1, rows: subset })]).toEqual([...subset].reverse());
});

test('history shortens what is expected, but the largest budget still comes first', () => {
  const fixtures = [{ context: 10, budget: 500 }, { context: 60, budget: 100, task: 1 }, { context: 30, budget: 100, task: 1 }, { context: 50, budget: 400 }];
  const index = buildIndex(fixtures);
  expect([...orderRequests(index, { kvCacheTokens: 1, expectedNewTokens: (task) => (task === 0 ? 5 : undefined) })]).toEqual([0, 1, 2, 3]);
});

test('the digest depends on the rows, their order and the seed', () => {
  const digests = [digestOrder(Uint32Array.of(0, 1)), digestOrder(Uint32Array.of(1, 0)), digestOrder(Uint32Array.of(0, 1), 3)];
  expect(new Set(digests).size).toBe(3);
  expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
});
