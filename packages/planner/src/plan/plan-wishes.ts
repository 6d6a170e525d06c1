// What the user asked of the plan, from `plan:` and from model_args under vLLM's and lm_eval's names, checked against each
// other and against the tier of determinism. Anything not asked for is undefined.
import { AssayError, type Determinism, type PlanRequest } from '@assay/domain';

export interface PlanWishes {
  data?: number;
  tensor?: number;
  pipeline?: number;
  maxNumSeqs?: number;
  maxNumBatchedTokens?: number;
  maxModelLen?: number;
  enforceEager?: boolean;
  enablePrefixCaching?: boolean;
  gpuMemoryUtilization?: number;
  kvCacheBytes?: number;
  /** Allows weights to be quantised while they are loaded; a quantised checkpoint needs no wish. */
  quantization?: string;
  /** Allows so much of each rank's weights to stay in the host's memory. */
  cpuOffloadGib?: number;
}

interface WishSource {
  field: keyof PlanWishes;
  plan?: keyof PlanRequest;
  modelArgs: readonly string[];
  type: 'count' | 'flag' | 'share' | 'size' | 'name';
}

const SOURCES: readonly WishSource[] = [
  { field: 'data', plan: 'data', modelArgs: ['data_parallel_size'], type: 'count' },
  { field: 'tensor', plan: 'tensor', modelArgs: ['tensor_parallel_size'], type: 'count' },
  { field: 'pipeline', plan: 'pipeline', modelArgs: ['pipeline_parallel_size'], type: 'count' },
  { field: 'maxNumSeqs', plan: 'max_num_seqs', modelArgs: ['max_num_seqs'], type: 'count' },
  { field: 'maxNumBatchedTokens', plan: 'max_num_batched_tokens', modelArgs: ['max_num_batched_tokens'], type: 'count' },
  { field: 'maxModelLen', modelArgs: ['max_model_len', 'max_length'], type: 'count' },
  { field: 'enforceEager', modelArgs: ['enforce_eager'], type: 'flag' },
  { field: 'enablePrefixCaching', modelArgs: ['enable_prefix_caching'], type: 'flag' },
  { field: 'gpuMemoryUtilization', modelArgs: ['gpu_memory_utilization'], type: 'share' },
  { field: 'kvCacheBytes', modelArgs: ['kv_cache_memory_bytes'], type: 'count' },
  { field: 'quantization', modelArgs: ['quantization'], type: 'name' },
  { field: 'cpuOffloadGib', modelArgs: ['cpu_offload_gb'], type: 'size' },
];

interface WishInput {
  plan: 'auto' | PlanRequest;
  modelArgs: Readonly<Record<string, unknown>>;
  maxBatchSize?: number | undefined;
  determinism: Determinism;
}

/** Throws PLAN_IMPOSSIBLE where two places disagree, or where a wish contradicts the tier; CONFIG_VALUE for a wrong type. */
export function readPlanWishes({ plan, modelArgs, maxBatchSize, determinism }: WishInput): PlanWishes {
  const asked = plan === 'auto' ? {} : plan;
  const wishes: Record<string, unknown> = {};
  for (const source of SOURCES) {
    const values = [
      ...(source.plan && asked[source.plan] !== undefined ? [[`plan.${source.plan}`, asked[source.plan]] as const] : []),
      ...source.modelArgs.filter((name) => isGiven(modelArgs[name])).map((name) => [`model_args.${name}`, parseWish(source, name, modelArgs[name])] as const),
    ];
    const [first, ...others] = values;
    const other = others.find(([, value]) => value !== first?.[1]);
    if (first && other) {
      throw new AssayError('PLAN_IMPOSSIBLE', { problem: `${first[0]} is ${first[1]} and ${other[0]} is ${other[1]}`, instead: 'Give one of them.' });
    }
    if (first) wishes[source.field] = first[1];
  }
  if (wishes.maxNumSeqs === undefined && maxBatchSize !== undefined) wishes.maxNumSeqs = maxBatchSize;
  refuseAgainstTier(wishes as PlanWishes, determinism);
  return wishes as PlanWishes;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== 'None';
}

const PARSERS: Readonly<Record<WishSource['type'], (value: unknown) => unknown>> = {
  count: (value) => (Number.isInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined),
  flag: (value) => ({ true: true, false: false })[String(value).toLowerCase()],
  share: (value) => (Number(value) > 0 && Number(value) <= 1 ? Number(value) : undefined),
  size: (value) => (Number(value) >= 0 && Number.isFinite(Number(value)) ? Number(value) : undefined),
  name: (value) => (typeof value === 'string' ? value : undefined),
};
const EXPECTED = { count: 'a whole number above 0', flag: 'True or False', share: 'a number above 0 and at most 1', size: 'a number of GiB', name: 'a name' };

function parseWish(source: WishSource, name: string, value: unknown): unknown {
  const parsed = PARSERS[source.type](value);
  if (parsed === undefined) {
    throw new AssayError('CONFIG_VALUE', { place: 'model_args', key: name, problem: `expected ${EXPECTED[source.type]}, got ${String(value)}` });
  }
  return parsed;
}

function refuseAgainstTier(wishes: PlanWishes, determinism: Determinism): void {
  if (determinism !== 'isolated') return;
  const contradictions = [
    { is: (wishes.maxNumSeqs ?? 1) > 1, problem: `max_num_seqs=${wishes.maxNumSeqs} lets results depend on their batch` },
    { is: wishes.enablePrefixCaching === true, problem: 'enable_prefix_caching=True lets results depend on what ran before' },
  ];
  const found = contradictions.find(({ is }) => is);
  if (found) throw new AssayError('PLAN_IMPOSSIBLE', { problem: `determinism: isolated and ${found.problem}`, instead: 'Leave it out, or choose determinism: strict or fast.' });
}
