// Operations of one token in a model, from its shape and parameters: two for each weight that it meets, and four for each
// element of a head and each pair of tokens that attend to each other.
import type { ModelFacts } from './model-facts.ts';

interface CountedWeights {
  /** Outside embeddings and output layer, all experts among them. */
  body: number;
  /** Those of the body that one token meets. */
  met: number;
}

function countWeights(facts: ModelFacts): CountedWeights {
  const { layers, hidden, headDim, heads, kvHeads, intermediate, vocab, isTied, experts, parameters, activeParameters } = facts;
  const attention = layers * hidden * headDim * 2 * (heads + kvHeads);
  const ends = vocab * hidden * (isTied ? 1 : 2);
  // Without a count: the usual three matrices of a feed-forward layer.
  const body = parameters > ends ? parameters - ends : attention + 3 * layers * hidden * intermediate;
  if (experts === undefined || experts.total === 0) return { body, met: body };
  if (activeParameters !== undefined && activeParameters > ends) return { body, met: activeParameters - ends };
  return { body, met: attention + (Math.max(0, body - attention) * experts.active) / experts.total };
}

export function denseFlopsPerToken(facts: ModelFacts): number {
  return 2 * countWeights(facts).met;
}

/** Of the output layer, for each row whose log-probabilities or next token are wanted. */
export function headFlopsPerRow({ vocab, hidden }: ModelFacts): number {
  return 2 * vocab * hidden;
}

export function attentionFlops({ layers, heads, headDim }: Pick<ModelFacts, 'layers' | 'heads' | 'headDim'>, pairs: number): number {
  return 4 * layers * heads * headDim * pairs;
}

/**
 * Which part of the dense layers' operations a second attention reaches: on CPU its small products and softmax got to 0.43 to
 * 0.57 in three runs (135 M parameters, prompts up to 3,500 tokens); on GPUs its kernels are taken to be as good.
 */
export const ATTENTION_REACHES = { cpu: 0.5, cuda: 1 } as const;

/** How much of the weights a step of `tokens` tokens reads: with few of them some experts are asked by none. */
export function shareOfWeightsRead(facts: ModelFacts, tokens: number): number {
  const { experts } = facts;
  if (experts === undefined || experts.total === 0) return 1;
  const { body, met } = countWeights(facts);
  const unasked = 1 - experts.active / experts.total;
  return body > 0 && unasked > 0 ? 1 - ((body - met) / body) * unasked ** Math.max(0, tokens - 1) : 1;
}
