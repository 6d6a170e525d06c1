// The order of a run's requests. Invariant: the longest request of each kind opens that kind, whatever the grouping, so an
// out-of-memory error comes in the first engine step or never.
import { createHash } from 'node:crypto';
import { REQUEST_KINDS } from '@assay/domain';
import type { RequestIndex } from '@assay/protocol';
import { sortStable } from './radix-sort.ts';
import { groupRequests, longestOfGroups, type RequestGroups } from './request-groups.ts';
import { allRows, expectedLengths, GENERATE, longestLengths, type ExpectedNewTokens } from './request-lengths.ts';

/** Recorded in the manifest; changes whenever the same requests could come out in another order. */
export const orderRule = 'longest-first/1: generation first, kinds apart, prefix groups by longest member, few-shot heads contiguous beyond half of the KV cache';

interface OrderOptions {
  kvCacheTokens: number;
  /** Shuffles groups of equal length; without it they go in lexicographic order of their token ids. */
  seed?: number;
  expectedNewTokens?: ExpectedNewTokens;
  /** Only these rows (a resume); all by default. */
  rows?: Uint32Array;
}

const LARGEST = 0xffffffff;

/** Returns rows in the order in which they should run. */
export function orderRequests(index: RequestIndex, options: OrderOptions): Uint32Array {
  const rows = options.rows ? Uint32Array.from(options.rows).sort() : allRows(index);
  const { kind, prefixGroup } = index.columns;
  const lengths = expectedLengths(index, options.expectedNewTokens);
  const longest = longestLengths(index);
  const groups = groupRequests(rows, kind, prefixGroup);
  const groupLength = longestOfGroups(rows, groups, lengths);
  const leaders = findLeaders(rows, groups, longest, lengths);
  pinLongestOfKinds({ groups, kind, longest, groupLength, leaders });

  const perRow = (ofGroup: (group: number) => number) => spread(rows, index.count, (row) => ofGroup(groups.groupOf[row]!));
  let order = sortStable(rows, spread(rows, index.count, (row) => (leaders[groups.groupOf[row]!] === row ? 0 : 1)));
  order = sortStable(order, groups.groupOf);
  if (options.seed !== undefined) order = sortStable(order, perRow((group) => mixBits(group, options.seed!)));
  order = sortStable(order, perRow((group) => LARGEST - groupLength[group]!));
  order = keepHeadsTogether({ order, rows, index, groups, groupLength, kvCacheTokens: options.kvCacheTokens });
  const ranks = rankKinds(rows, kind, longest);
  return sortStable(order, spread(rows, index.count, (row) => ranks[kind[row]!]!));
}

/** sha256 over the rule, the seed and the rows, in hex. */
export function digestOrder(order: Uint32Array, seed?: number): string {
  const little = new Uint8Array(order.length * 4);
  const view = new DataView(little.buffer);
  order.forEach((row, place) => view.setUint32(place * 4, row, true));
  return createHash('sha256').update(`${orderRule}\n${seed ?? ''}\n`).update(little).digest('hex');
}

function spread(rows: Uint32Array, count: number, valueOf: (row: number) => number): Uint32Array {
  const values = new Uint32Array(count);
  for (const row of rows) values[row] = valueOf(row);
  return values;
}

/** The member of each group that goes first: its longest in the worst case, then by expectation; the earlier row of equals. */
function findLeaders(rows: Uint32Array, groups: RequestGroups, longest: Uint32Array, lengths: Uint32Array): Uint32Array {
  const leaders = groups.firstRow.slice();
  for (const row of rows) {
    const leader = leaders[groups.groupOf[row]!]!;
    const gain = longest[row]! - longest[leader]! || lengths[row]! - lengths[leader]! || leader - row;
    if (gain > 0) leaders[groups.groupOf[row]!] = row;
  }
  return leaders;
}

interface PinInput {
  groups: RequestGroups;
  kind: Uint32Array;
  longest: Uint32Array;
  groupLength: Uint32Array;
  leaders: Uint32Array;
}

// Expected lengths can put a smaller budget in front; the memory model and the probe speak of the whole budget.
function pinLongestOfKinds({ groups, kind, longest, groupLength, leaders }: PinInput): void {
  const first = new Map<number, number>();
  for (let group = 0; group < groups.count; group += 1) {
    const number = kind[leaders[group]!]!;
    const best = first.get(number);
    const gain = best === undefined ? 1 : longest[leaders[group]!]! - longest[leaders[best]!]! || groupLength[group]! - groupLength[best]!;
    if (gain > 0) first.set(number, group);
  }
  for (const [number, group] of first) if (number === GENERATE) groupLength[group] = LARGEST;
}

interface HeadInput {
  order: Uint32Array;
  rows: Uint32Array;
  index: RequestIndex;
  groups: RequestGroups;
  groupLength: Uint32Array;
  kvCacheTokens: number;
}

/** Puts the groups of one few-shot head side by side, heads by their longest member, unless all heads fit in half of the cache. */
function keepHeadsTogether({ order, rows, index, groups, groupLength, kvCacheTokens }: HeadInput): Uint32Array {
  const { kind, head, headTokens } = index.columns;
  // A group has one context and so one head; its first row speaks for it.
  const headOf = spread(rows, index.count, (row) => (kind[row] === GENERATE ? 0 : head[groups.firstRow[groups.groupOf[row]!]!]!));
  const headed = rows.filter((row) => headOf[row] !== 0);
  const heads = groupRequests(headed, kind, headOf);
  const tokens = heads.firstRow.reduce((sum, row) => sum + headTokens[row]!, 0);
  if (heads.count < 2 || tokens <= kvCacheTokens / 2) return order;

  const lengthOf = spread(rows, index.count, (row) => groupLength[groups.groupOf[row]!]!);
  const headLength = longestOfGroups(headed, heads, lengthOf);
  // A group without a head stands for itself; stable sorting keeps such groups as length and ties put them.
  const headNumber = spread(rows, index.count, (row) => (headOf[row] === 0 ? heads.count : heads.groupOf[row]!));
  const bucketLength = spread(rows, index.count, (row) => LARGEST - (headOf[row] === 0 ? lengthOf[row]! : headLength[heads.groupOf[row]!]!));
  return sortStable(sortStable(order, headNumber), bucketLength);
}

/**
 * Generation goes first, then the kind that holds the longest request. How long answers get is known only once they are made,
 * so the time that is left can be told early, and scored prompts fill the batch while the last long answers run out.
 */
function rankKinds(rows: Uint32Array, kind: Uint32Array, longest: Uint32Array): number[] {
  const longestOf = REQUEST_KINDS.map(() => -1);
  for (const row of rows) longestOf[kind[row]!] = Math.max(longestOf[kind[row]!]!, longest[row]!);
  longestOf[GENERATE] = LARGEST;
  const sorted = REQUEST_KINDS.map((_, number) => number).sort((a, b) => longestOf[b]! - longestOf[a]! || a - b);
  return REQUEST_KINDS.map((_, number) => sorted.indexOf(number));
}

/** A 32-bit mix of a group's number and the seed. */
function mixBits(value: number, seed: number): number {
  let bits = (value ^ Math.imul(seed, 0x9e3779b1)) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
