// Lengths of requests as columns, in tokens: what the engine holds at a request's longest, and what it is expected to hold.
import { REQUEST_KINDS, type RequestKind } from '@assay/domain';
import type { RequestIndex } from '@assay/protocol';

/** How long a task's answers were for this model in earlier runs: the 90th percentile, or the mean for times; undefined where there is no history. */
export type ExpectedNewTokens = (task: number) => number | undefined;

export const GENERATE: number = REQUEST_KINDS.indexOf('generate_until');

export function kindNumber(kind: RequestKind): number {
  return REQUEST_KINDS.indexOf(kind);
}

export function allRows(index: RequestIndex): Uint32Array {
  return Uint32Array.from({ length: index.count }, (_, row) => row);
}

/** Context, continuation and budget: the worst case. */
export function longestLengths(index: RequestIndex): Uint32Array {
  const { contextTokens, continuationTokens, newTokenBudget } = index.columns;
  const lengths = new Uint32Array(index.count);
  for (let row = 0; row < index.count; row += 1) {
    lengths[row] = contextTokens[row]! + continuationTokens[row]! + newTokenBudget[row]!;
  }
  return lengths;
}

/** New tokens a generation will probably make: never more than its budget, and the budget where nothing is known. */
export function expectedNewTokens(index: RequestIndex, expected: ExpectedNewTokens | undefined): Uint32Array {
  const { kind, newTokenBudget, task } = index.columns;
  if (expected === undefined) return newTokenBudget;
  const byTask = new Map<number, number>();
  const tokens = new Uint32Array(index.count);
  for (let row = 0; row < index.count; row += 1) {
    const number = task[row]!;
    let limit = byTask.get(number);
    if (limit === undefined) {
      limit = Math.max(1, Math.ceil(expected(number) ?? Number.MAX_SAFE_INTEGER));
      byTask.set(number, limit);
    }
    tokens[row] = kind[row] === GENERATE ? Math.min(newTokenBudget[row]!, limit) : newTokenBudget[row]!;
  }
  return tokens;
}

/** Context, continuation and expected new tokens: what orders the requests. */
export function expectedLengths(index: RequestIndex, expected: ExpectedNewTokens | undefined): Uint32Array {
  const { contextTokens, continuationTokens } = index.columns;
  const newTokens = expectedNewTokens(index, expected);
  const lengths = new Uint32Array(index.count);
  for (let row = 0; row < index.count; row += 1) {
    lengths[row] = contextTokens[row]! + continuationTokens[row]! + newTokens[row]!;
  }
  return lengths;
}
