// The terms of the memory model by the names people read.

export interface MemoryView {
  kind: string;
  terms: Readonly<Record<string, number>>;
  totalBytes: number;
  ruleOfThumbBytes: number;
  residualBytes: number;
}

export const TERM_NAMES: Readonly<Record<string, string>> = {
  weights: 'weights', kv: 'KV cache', activation: 'activations', logits: 'logits', promptLogprobs: 'prompt log-probabilities', graphs: 'graphs', context: 'engine',
};
