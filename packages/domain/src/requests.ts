// A request is one call of the engine. Its key is (task, ordinal, repeat, window): doc ids are not unique.

/** Kinds in the order of their number in requests/index.bin. */
export const REQUEST_KINDS = ['loglikelihood', 'loglikelihood_rolling', 'generate_until'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/**
 * What planning needs of one request; lengths in tokens. `row` is its place in requests/index.bin. Requests with one context
 * share a `prefixGroup`, and groups are numbered in lexicographic order of their token ids; those whose first `headTokens`
 * ids are a common few-shot head share a `head` (0: none).
 */
export interface RequestShape {
  row: number;
  task: number;
  kind: RequestKind;
  contextTokens: number;
  continuationTokens: number;
  newTokenBudget: number;
  prefixGroup: number;
  head: number;
  headTokens: number;
}
