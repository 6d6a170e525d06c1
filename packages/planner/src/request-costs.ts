// What a request costs, in units of one prefilled token, and which of its tokens are prefilled, scored and decoded.
import type { RequestIndex } from '@assay/protocol';
import type { ModelFacts } from './model-facts.ts';
import type { Work } from './rates.ts';
import { expectedNewTokens, GENERATE, type ExpectedNewTokens } from './request-lengths.ts';

/**
 * Weight of a token by what is done with it. Decoding: 2,850 prompt against 830 output tokens a second, measured on two CPU
 * cores with a 135 M model. Scoring and attention: guesses without the model's facts, see weighWork.
 */
export const TOKEN_WEIGHTS = { prefill: 1, scored: 1.5, decode: 3.4, request: 8, attention: 1 / 10_000 } as const;

// Seconds that an operation of attention takes, against one of a matrix product: measured on two CPU cores in bfloat16.
const ATTENTION_SLOWNESS = 2.6;

type WeighedFacts = Pick<ModelFacts, 'parameters' | 'vocab' | 'hidden' | 'isTied' | 'layers' | 'heads' | 'headDim'>;

/** The weights for one model, from its operations: two a parameter and token, four a head's element and pair of tokens. */
export function weighWork({ parameters, vocab, hidden, isTied, layers, heads, headDim }: WeighedFacts): Work {
  const head = vocab * hidden;
  const body = parameters - head * (isTied ? 1 : 2);
  if (body <= 0) return TOKEN_WEIGHTS;
  // Only a scored prompt goes through the language-model head at every token.
  return { ...TOKEN_WEIGHTS, scored: 1 + head / body, attention: (ATTENTION_SLOWNESS * 4 * layers * heads * headDim) / (2 * body) };
}

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
