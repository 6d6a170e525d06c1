// What a run asks of the engine, as a few numbers: how long its requests are, of which kind, and how many tokens there are.
import type { RequestIndex } from '@assay/protocol';
import { expectedLengths, expectedNewTokens, type ExpectedNewTokens, GENERATE } from './request-lengths.ts';

export interface WorkloadSummary {
  requests: number;
  scoredRequests: number;
  /** Prompt tokens of all requests. */
  promptTokens: number;
  /** Tokens that generation will probably make. */
  newTokens: number;
  /** Context, continuation and budget of the longest request. */
  longestTokens: number;
  /** Longest prompt that is scored; 0 where nothing is. */
  longestScoredTokens: number;
  /** Prompt tokens of the requests that are scored. */
  scoredTokens: number;
  /** Pairs of tokens that attend to each other: within the prompts, and of each generated token with what is before it. */
  promptPairs: number;
  decodePairs: number;
}

/** What one start of a run did, by its own count: prompts without what the prefix cache spared, answers as long as they got. */
export type DoneWork = Omit<WorkloadSummary, 'longestTokens' | 'longestScoredTokens'>;

export interface Workload extends WorkloadSummary {
  /** Tokens held by the longest generations when `sequences` of them run at once. */
  concurrentTokens(sequences: number): number;
}

export function summarizeWorkload(index: RequestIndex, expected?: ExpectedNewTokens): Workload {
  const { kind, contextTokens, continuationTokens, newTokenBudget } = index.columns;
  const newTokens = expectedNewTokens(index, expected);
  const sums = { promptTokens: 0, newTokens: 0, scoredRequests: 0, longestTokens: 0, longestScoredTokens: 0, scoredTokens: 0, promptPairs: 0, decodePairs: 0 };
  for (let row = 0; row < index.count; row += 1) {
    const prompt = contextTokens[row]! + continuationTokens[row]!;
    sums.promptTokens += prompt;
    sums.promptPairs += (prompt * prompt) / 2;
    sums.longestTokens = Math.max(sums.longestTokens, prompt + newTokenBudget[row]!);
    if (kind[row] === GENERATE) {
      sums.newTokens += newTokens[row]!;
      sums.decodePairs += newTokens[row]! * (prompt + newTokens[row]! / 2);
    } else {
      sums.scoredRequests += 1;
      sums.scoredTokens += prompt;
      sums.longestScoredTokens = Math.max(sums.longestScoredTokens, prompt);
    }
  }
  const lengths = expectedLengths(index, expected).filter((_, row) => kind[row] === GENERATE).sort();
  const concurrentTokens = (sequences: number) => lengths.subarray(Math.max(0, lengths.length - sequences)).reduce((sum, length) => sum + length, 0);
  return { requests: index.count, ...sums, concurrentTokens };
}
