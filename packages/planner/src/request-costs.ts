// What a request costs, in units of one prefilled token, and which of its tokens are prefilled, scored and decoded.
import type { RequestIndex } from '@assay/protocol';
import { expectedNewTokens, GENERATE, type ExpectedNewTokens } from './request-lengths.ts';

/**
 * Weight of a token by what is done with it. Decoding: 2,850 prompt against 830 output tokens a second, measured on two CPU
 * cores with a 135 M model. Scoring: rows of log-probabilities over the whole vocabulary, an estimate until a run has measured it.
 */
export const TOKEN_WEIGHTS = { prefill: 1, scored: 1.5, decode: 3.4, request: 8 } as const;

/** Cost of each row; zero nowhere. */
export function costRequests(index: RequestIndex, expected?: ExpectedNewTokens): Float64Array {
  const { kind, contextTokens, continuationTokens } = index.columns;
  const newTokens = expectedNewTokens(index, expected);
  const costs = new Float64Array(index.count);
  for (let row = 0; row < index.count; row += 1) {
    const promptTokens = contextTokens[row]! + continuationTokens[row]!;
    const isGenerate = kind[row] === GENERATE;
    const promptWeight = isGenerate ? TOKEN_WEIGHTS.prefill : TOKEN_WEIGHTS.scored;
    const decoded = isGenerate ? newTokens[row]! : 1;
    costs[row] = TOKEN_WEIGHTS.request + promptTokens * promptWeight + decoded * TOKEN_WEIGHTS.decode;
  }
  return costs;
}
