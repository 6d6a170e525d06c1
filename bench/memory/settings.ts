// The settings of the memory check: two types, several batch limits, scoring and generation, short prompts and whole windows.
import { choosePlan, type ModelFacts, type NodeFacts, type Plan, planProbeSteps } from '@assay/planner';
import { INDEX_COLUMNS, type IndexColumn, type ProbeStep, type RequestIndex } from '@assay/protocol';
import { GIB } from '@assay/domain';

export interface Setting {
  name: string;
  dtype: 'bfloat16' | 'float32';
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  /** Tokens of the scored prompts, and of the generations' with their budgets; 0: none of the kind. */
  scoredTokens: number;
  generatedTokens: number;
  /** In GiB; what the plan chooses where it is not given. */
  kvCacheGib?: number;
}

const REQUESTS = 256;
const NEW_TOKENS = 128;
/** Loose enough for every setting; the planner takes limits for processes on cores, and refuses them beside a GPU. */
const CPU_LIMITS = { memory: 64 * GIB, kind: 'address_space' } as const;

export const SETTINGS: readonly Setting[] = [
  { name: 'bf16, short prompts scored', dtype: 'bfloat16', maxNumSeqs: 64, maxNumBatchedTokens: 2048, scoredTokens: 600, generatedTokens: 0 },
  { name: 'bf16, 8k prompts scored whole: logits are largest', dtype: 'bfloat16', maxNumSeqs: 64, maxNumBatchedTokens: 8192, scoredTokens: 8100, generatedTokens: 0 },
  { name: 'bf16, 8k prompts scored in chunks', dtype: 'bfloat16', maxNumSeqs: 64, maxNumBatchedTokens: 1024, scoredTokens: 8100, generatedTokens: 0 },
  { name: 'bf16, short answers', dtype: 'bfloat16', maxNumSeqs: 128, maxNumBatchedTokens: 2048, scoredTokens: 0, generatedTokens: 700 },
  { name: 'bf16, 8k context generated: KV is largest', dtype: 'bfloat16', maxNumSeqs: 64, maxNumBatchedTokens: 2048, scoredTokens: 0, generatedTokens: 8100, kvCacheGib: 4 },
  { name: 'bf16, scoring and generation', dtype: 'bfloat16', maxNumSeqs: 256, maxNumBatchedTokens: 4096, scoredTokens: 3000, generatedTokens: 2000 },
  { name: 'fp32, short prompts scored', dtype: 'float32', maxNumSeqs: 64, maxNumBatchedTokens: 1024, scoredTokens: 600, generatedTokens: 0 },
  { name: 'fp32, 8k prompts scored in chunks', dtype: 'float32', maxNumSeqs: 64, maxNumBatchedTokens: 2048, scoredTokens: 8100, generatedTokens: 0 },
  { name: 'fp32, many short answers', dtype: 'float32', maxNumSeqs: 256, maxNumBatchedTokens: 4096, scoredTokens: 0, generatedTokens: 400 },
  { name: 'fp32, 8k context generated', dtype: 'float32', maxNumSeqs: 32, maxNumBatchedTokens: 1024, scoredTokens: 0, generatedTokens: 8100, kvCacheGib: 3 },
];

export interface Planned {
  setting: Setting;
  plan: Plan;
  steps: ProbeStep[];
}

/** The plan of a run with such requests, on one core or one GPU. */
export function planSetting(setting: Setting, { facts, node }: { facts: ModelFacts; node: NodeFacts }): Planned {
  const { dtype, maxNumSeqs, maxNumBatchedTokens, scoredTokens, generatedTokens, kvCacheGib } = setting;
  const index = buildIndex([
    { kind: 0, context: scoredTokens - 1, continuation: 1, budget: 0, count: scoredTokens > 0 ? REQUESTS : 0 },
    { kind: 2, context: generatedTokens - NEW_TOKENS, continuation: 0, budget: NEW_TOKENS, count: generatedTokens > 0 ? REQUESTS : 0 },
  ]);
  const plan = choosePlan({
    plan: { data: 1 }, determinism: 'fast', limits: node.gpus.length > 0 ? {} : CPU_LIMITS, facts, index, maxModelLen: 8192,
    node: { ...node, memoryBytes: Math.max(node.memoryBytes, CPU_LIMITS.memory), cpus: node.cpus.slice(0, 1), gpus: node.gpus.slice(0, 1) },
    modelArgs: {
      dtype, max_num_seqs: maxNumSeqs, max_num_batched_tokens: maxNumBatchedTokens, enforce_eager: true, ...(kvCacheGib ? { kv_cache_memory_bytes: kvCacheGib * GIB } : {}),
    },
  });
  return { setting, plan, steps: planProbeSteps(index, plan) };
}

interface Requests {
  kind: number;
  context: number;
  continuation: number;
  budget: number;
  count: number;
}

function buildIndex(groups: readonly Requests[]): RequestIndex {
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(count)])) as Record<IndexColumn, Uint32Array>;
  let row = 0;
  for (const { kind, context, continuation, budget, count: requests } of groups) {
    for (let number = 0; number < requests; number += 1, row += 1) {
      Object.entries({ kind, contextTokens: context, continuationTokens: continuation, newTokenBudget: budget, ordinal: row, prefixGroup: row })
        .forEach(([name, value]) => { columns[name as IndexColumn][row] = value; });
    }
  }
  return { count, tokenOffset: new BigUint64Array(count), columns };
}
