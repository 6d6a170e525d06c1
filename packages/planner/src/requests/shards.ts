// Cuts the order into shards: large ones first, smaller towards the end, so that workers end together. Invariant: shards
// partition the order, and none goes through a prefix group or from one request kind into another.
import { buildShardId, type Determinism, type ShardId } from '@assay/domain';
import type { RequestIndex } from '@assay/protocol';
import { costRequests } from './request-costs.ts';
import type { ExpectedNewTokens } from './request-lengths.ts';

/** Places [begin, end) of the order. `tokens`: prompt tokens and budgets; `cost`: in prefilled tokens. */
export interface Shard {
  id: ShardId;
  begin: number;
  end: number;
  requests: number;
  tokens: number;
  cost: number;
}

interface ShardOptions {
  workers: number;
  determinism: Determinism;
  minRequests?: number;
  maxRequests?: number;
  expectedNewTokens?: ExpectedNewTokens;
}

// A worker's next shard is a quarter of its share of what is left: the first worker to fail loses little, the last waits little.
const SHARE = 4;
// At most this many shards come from the smallest size, and at most this many from the largest.
const SHARDS_BY_COST = 4000;
const SHARDS_BY_COUNT = 500;
// Smallest shard: this part of one worker's share of the whole run.
const SMALLEST_PART = 64;
// strict cuts for two workers whatever there are: the cut is part of what makes its results.
const STRICT_WORKERS = 2;

/** Cuts `order`. With `strict` the cut depends on the requests alone: not on workers, and not on learned answer lengths. */
export function cutShards(order: Uint32Array, index: RequestIndex, options: ShardOptions): Shard[] {
  const isStrict = options.determinism === 'strict';
  const costs = costRequests(index, isStrict ? undefined : options.expectedNewTokens);
  const workers = isStrict ? STRICT_WORKERS : Math.max(1, options.workers);
  let remaining = order.reduce((sum, row) => sum + costs[row]!, 0);
  const limits = {
    minCost: Math.max(remaining / SHARDS_BY_COST, remaining / (SMALLEST_PART * workers)),
    minRequests: options.minRequests ?? 4,
    maxRequests: options.maxRequests ?? Math.max(2000, Math.ceil(order.length / SHARDS_BY_COUNT)),
  };
  const shards: Shard[] = [];
  for (let begin = 0; begin < order.length; ) {
    const target = Math.max(limits.minCost, remaining / (SHARE * workers));
    const shard = takeShard({ order, index, costs, begin, target, ...limits, number: shards.length });
    shards.push(shard);
    remaining -= shard.cost;
    begin = shard.end;
  }
  return shards;
}

interface TakeInput {
  order: Uint32Array;
  index: RequestIndex;
  costs: Float64Array;
  begin: number;
  target: number;
  minRequests: number;
  maxRequests: number;
  number: number;
}

function takeShard({ order, index, costs, begin, target, minRequests, maxRequests, number }: TakeInput): Shard {
  const { kind, prefixGroup, contextTokens, continuationTokens, newTokenBudget } = index.columns;
  let end = begin;
  let cost = 0;
  let tokens = 0;
  while (end < order.length) {
    const row = order[end]!;
    const previous = order[end - 1]!;
    if (end > begin && (kind[row] !== kind[previous] || prefixGroup[row] !== prefixGroup[previous])) {
      const isFull = end - begin >= maxRequests || (cost >= target && end - begin >= minRequests);
      if (isFull || kind[row] !== kind[previous]) break;
    }
    cost += costs[row]!;
    tokens += contextTokens[row]! + continuationTokens[row]! + newTokenBudget[row]!;
    end += 1;
  }
  return { id: buildShardId(number), begin, end, requests: end - begin, tokens, cost };
}
