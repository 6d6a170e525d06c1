// A million requests planned, ordered, grouped and cut into shards: for two cores, and for eight GPUs with every layout weighed.
// Its scope is the planner alone, on one core, with an index that is in memory already: no rendering, no files, no queue. Prints one
// line: seconds of each, shards, peak memory of this process, which also holds the index. Usage: node bench/planner.ts [REQUESTS]
import {
  choosePlan, cutShards, imagineNode, kvCacheTokens, type ModelFacts, orderRequests, parseModelFacts, type PlanInput, planProbeSteps,
} from '@assay/planner';
import { INDEX_COLUMNS, type IndexColumn, type RequestIndex } from '@assay/protocol';
import llama70b from '../packages/planner/fixtures/models/llama-3.1-70b.json' with { type: 'json' };
import smollm2 from '../packages/planner/fixtures/models/smollm2-135m.json' with { type: 'json' };

const requests = Number(process.argv[2] ?? 1_000_000);
/** What a million may take. GB, not GiB. */
const [MOST_SECONDS, MOST_BYTES] = [5, 1.5e9];
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

interface Target {
  node: string;
  plan: PlanInput['plan'];
  facts: ModelFacts;
}

function planFor({ node, plan: wish, facts }: Target) {
  const startedAt = performance.now();
  const plan = choosePlan({ plan: wish, modelArgs: {}, limits: {}, determinism: 'fast', node: imagineNode(node), facts, index, maxModelLen: 8192 });
  const order = orderRequests(index, { kvCacheTokens: kvCacheTokens(plan) });
  const shards = cutShards(order, index, { workers: plan.data, determinism: 'fast' });
  const steps = planProbeSteps(index, plan);
  return { seconds: (performance.now() - startedAt) / 1000, shards: shards.length, steps: steps.length, layout: `${plan.data}x${plan.tensor}x${plan.pipeline}` };
}

const bf16Weights = [{ 'model.weight': { dtype: 'BF16', shape: [70_553_706_496], bytes: 2 * 70_553_706_496 } }];
const cores = planFor({ node: 'cpu:2:16GiB', plan: { data: 2 }, facts: parseModelFacts(smollm2.config, []) });
const gpus = planFor({ node: '8xH100-80GB', plan: 'auto', facts: parseModelFacts(llama70b.config, bf16Weights) });
const peakRssBytes = process.resourceUsage().maxRSS * 1024;
console.log(`planner requests=${requests} seconds=${cores.seconds.toFixed(2)} shards=${cores.shards} probe_steps=${cores.steps} gpus8_seconds=${gpus.seconds.toFixed(2)}`
  + ` gpus8_layout=${gpus.layout} gpus8_shards=${gpus.shards} peak_rss_gb=${(peakRssBytes / 1e9).toFixed(2)}`);
if (requests <= 1_000_000 && (Math.max(cores.seconds, gpus.seconds) > MOST_SECONDS || peakRssBytes > MOST_BYTES)) process.exitCode = 1;
