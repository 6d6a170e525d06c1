// Requests of the same length and a plan for them on two cores, for tests of what becomes of a plan that does not fit.
import { choosePlan, parseModelFacts, type Plan } from '@assay/planner';
import { INDEX_COLUMNS, type RequestIndex } from '@assay/protocol';

export function buildIndex(requests: number, { contextTokens, continuationTokens }: { contextTokens: number; continuationTokens: number }): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(requests)])) as RequestIndex['columns'];
  columns.contextTokens.fill(contextTokens);
  columns.continuationTokens.fill(continuationTokens);
  return { count: requests, tokenOffset: new BigUint64Array(requests), columns };
}

export function buildPlan(index: RequestIndex): Plan {
  const config = {
    architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3,
    intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192,
  };
  const facts = parseModelFacts(config, [{ weight: { dtype: 'BF16', shape: [1_000_000], bytes: 2_000_000 } }]);
  return choosePlan({ plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', facts, index, maxModelLen: 8192, node: { cpus: [0, 1], memoryBytes: 2 ** 34, gpus: [] } });
}
