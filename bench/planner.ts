// A million requests ordered, grouped, planned and cut into shards on one core. Prints one line: seconds, shards, peak RSS.
import { choosePlan, cutShards, kvCacheTokens, orderRequests, parseModelFacts, planProbeSteps } from '@assay/planner';
import { INDEX_COLUMNS, type IndexColumn, type RequestIndex } from '@assay/protocol';

const requests = Number(process.argv[2] ?? 1_000_000);
const CHOICES = 4;
const HEAD_TOKENS = 600;

/** Half multiple choice under few-shot heads, half generation, with lengths that vary as those of real tasks do. */
function buildIndex(count: number): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(count)])) as Record<IndexColumn, Uint32Array>;
  for (let row = 0; row < count; row += 1) {
    const group = Math.floor(row / CHOICES);
    const isScored = row < count / 2;
    const spread = (Math.imul(isScored ? group : row, 0x9e3779b1) >>> 8) % 4000;
    columns.kind[row] = isScored ? 0 : 2;
    columns.task[row] = Math.floor((row * 57) / count);
    columns.ordinal[row] = row;
    columns.contextTokens[row] = HEAD_TOKENS + spread;
    columns.continuationTokens[row] = isScored ? 1 + (row % CHOICES) : 0;
    columns.newTokenBudget[row] = isScored ? 0 : 256;
    columns.prefixGroup[row] = isScored ? group : row;
    columns.head[row] = isScored ? 1 + columns.task[row]! : 0;
    columns.headTokens[row] = isScored ? HEAD_TOKENS : 0;
  }
  return { count, tokenOffset: new BigUint64Array(count), columns };
}

const index = buildIndex(requests);
const facts = parseModelFacts({ architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3, intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192, dtype: 'bfloat16' }, []);
const startedAt = performance.now();
const plan = choosePlan({
  plan: { data: 2 }, modelArgs: {}, limits: {}, determinism: 'fast', node: { cpus: [0, 1], memoryBytes: 16 * 2 ** 30, gpus: [] }, facts, index, maxModelLen: 8192,
});
const order = orderRequests(index, { kvCacheTokens: kvCacheTokens(plan) });
const shards = cutShards(order, index, { workers: plan.data, determinism: 'fast' });
const steps = planProbeSteps(index, plan);
const seconds = (performance.now() - startedAt) / 1000;
const peakRssGib = process.resourceUsage().maxRSS / 2 ** 20;
console.log(`planner requests=${requests} seconds=${seconds.toFixed(2)} shards=${shards.length} probe_steps=${steps.length} peak_rss_gib=${peakRssGib.toFixed(2)}`);
// What a million requests may take on one core.
if (requests <= 1_000_000 && (seconds > 5 || peakRssGib > 1.5)) process.exitCode = 1;
