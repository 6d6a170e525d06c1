// What a request costs, in units of one prefilled token, and which of its tokens are prefilled, scored and decoded.
import type { RequestIndex } from '@assay/protocol';
import { ATTENTION_REACHES, attentionFlops } from '../model/model-flops.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { expectedNewTokens, GENERATE, type ExpectedNewTokens } from './request-lengths.ts';
import type { Work } from './work.ts';

/**
 * Weight of a token by what is done with it, measured on two CPU cores with a 135 M model: 2,850 prompt against 830 output
 * tokens a second; scored prompts no slower than others. Attention is a guess for a large model; weighWork knows better.
 */
export const TOKEN_WEIGHTS = { prefill: 1, scored: 1, decode: 3.4, request: 3, attention: 1 / 25_000 } as const;

type WeighedFacts = Pick<ModelFacts, 'parameters' | 'vocab' | 'hidden' | 'isTied' | 'layers' | 'heads' | 'headDim'>;

/** The weights for one model and device: attention by its operations against two a parameter and token, and by how fast it does them. */
export function weighWork(facts: WeighedFacts, device: keyof typeof ATTENTION_REACHES): Work {
  const body = facts.parameters - facts.vocab * facts.hidden * (facts.isTied ? 1 : 2);
  return body > 0 ? { ...TOKEN_WEIGHTS, attention: attentionFlops(facts, 1) / ATTENTION_REACHES[device] / (2 * body) } : TOKEN_WEIGHTS;
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
