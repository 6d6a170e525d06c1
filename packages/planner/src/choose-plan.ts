// Chooses the plan of a run: the user's wishes first, then what the tier of determinism demands, then what fits and is fast.
import { AssayError, type Determinism, type PlanRequest } from '@assay/domain';
import type { RequestIndex } from '@assay/protocol';
import { allowedTensorSizes } from './divisibility.ts';
import { parseRunDtype, RUN_DTYPES, type RunDtype } from './dtypes.ts';
import { kvBytesOfSequence, kvElementBytes, resolveWindow } from './kv-cache.ts';
import { estimateMemory, type MemoryKind } from './memory.ts';
import type { ModelFacts } from './model-facts.ts';
import { planBatches } from './plan-batch.ts';
import { layOutDevices, type NodeFacts } from './plan-devices.ts';
import { fitMemory, type PlanDraft } from './plan-memory.ts';
import { readPlanWishes } from './plan-wishes.ts';
import type { Plan } from './plan.ts';
import type { ExpectedNewTokens } from './request-lengths.ts';
import { summarizeWorkload, type Workload } from './workload.ts';

// vLLM's own default share of a GPU leaves too little beside it for prompt log-probabilities.
const GPU_SHARE = 0.9;

export interface PlanInput {
  plan: 'auto' | PlanRequest;
  modelArgs: Readonly<Record<string, unknown>>;
  maxBatchSize?: number | undefined;
  limits: { memory?: number | undefined; kind?: 'address_space' | 'cgroup' | undefined };
  determinism: Determinism;
  node: NodeFacts;
  facts: ModelFacts;
  index: RequestIndex;
  /** The window the requests were rendered for. */
  maxModelLen: number;
  expectedNewTokens?: ExpectedNewTokens;
  /** Measured less predicted peak of earlier runs of these weights on this build and device. */
  residualBytes?: number;
}

export function choosePlan(input: PlanInput): Plan {
  const { facts, determinism, node, modelArgs } = input;
  const wishes = readPlanWishes({ plan: input.plan, modelArgs, maxBatchSize: input.maxBatchSize, determinism });
  const device = node.gpus.length > 0 ? 'cuda' : 'cpu';
  const workload = summarizeWorkload(input.index, input.expectedNewTokens);
  const dtype = resolveDtype(modelArgs.dtype, facts);
  const elementBytes = kvElementBytes(modelArgs.kv_cache_dtype, dtype);
  const gpuMemoryBytes = Math.min(...node.gpus.map((gpu) => gpu.memoryBytes)) * (wishes.gpuMemoryUtilization ?? GPU_SHARE);
  const minRanks = device === 'cpu' ? 1 : countRanks({ input, dtype, elementBytes, rankBytes: gpuMemoryBytes, workload });
  const layout = layOutDevices({ node, facts, wishes, determinism, minRanks });
  const { why: whyBatches, ...batches } = planBatches({ device, gpuMemoryBytes, facts, layout, wishes, determinism, workload });
  const window = resolveWindow(facts, input.maxModelLen, workload.longestTokens);
  const { bytes: memoryLimitBytes, kind } = resolveLimit({ input, device, gpuMemoryBytes, data: layout.data, ranks: layout.tensor * layout.pipeline });
  const draft = {
    device, determinism, dtype, memoryLimitBytes, ...layout, ...batches,
    maxModelLen: window.window,
    kvElementBytes: elementBytes,
    tensorSizes: allowedTensorSizes(facts, Math.max(1, node.gpus.length || node.cpus.length)),
    why: [...layout.why, ...whyBatches, ...(window.warning ? [window.warning] : [])],
  } satisfies PlanDraft;
  return fitMemory({ draft, facts, wishes, workload, kind, residualBytes: input.residualBytes ?? 0 });
}

/** The type the engine will run in: "auto" is the checkpoint's own, but for float32, which vLLM runs in 16 bit. */
export function resolveDtype(asked: unknown, facts: Pick<ModelFacts, 'dtype'>): RunDtype {
  if (asked === undefined || asked === null || asked === 'auto') return facts.dtype === 'float32' ? 'bfloat16' : facts.dtype;
  const dtype = parseRunDtype(asked);
  if (dtype) return dtype;
  throw new AssayError('CONFIG_VALUE', { place: 'model_args', key: 'dtype', problem: `"${String(asked)}" is not one of auto, ${RUN_DTYPES.join(', ')}` });
}

interface LimitInput {
  input: PlanInput;
  device: 'cpu' | 'cuda';
  gpuMemoryBytes: number;
  data: number;
  ranks: number;
}

function resolveLimit({ input: { limits, node, determinism }, device, gpuMemoryBytes, data, ranks }: LimitInput): { bytes: number; kind: MemoryKind } {
  if (device === 'cuda') return { bytes: gpuMemoryBytes, kind: 'device' };
  // A limit is each worker's; without one, replicas and their ranks share what the node has. Where results may not depend on the
  // number of replicas, neither may the share, which sizes the cache.
  const shares = determinism === 'fast' ? data * ranks : Math.max(data * ranks, node.cpus.length);
  if (limits.memory === undefined) return { bytes: Math.floor(node.memoryBytes / shares), kind: 'resident' };
  return { bytes: limits.memory, kind: limits.kind === 'cgroup' ? 'resident' : 'address_space' };
}

interface RankInput {
  input: PlanInput;
  dtype: RunDtype;
  elementBytes: number;
  rankBytes: number;
  workload: Workload;
}

/** Devices that one replica needs for its memory, whatever the heads allow. */
function countRanks({ input: { facts, node, maxModelLen }, dtype, elementBytes, rankBytes, workload }: RankInput): number {
  for (let tensor = 1; tensor <= node.gpus.length; tensor += 1) {
    const kvCacheBytes = kvBytesOfSequence(facts, { tokens: Math.min(maxModelLen, workload.longestTokens), elementBytes, tensor });
    const plan = { device: 'cuda', tensor, pipeline: 1, maxNumSeqs: 256, maxNumBatchedTokens: 8192, kvCacheBytes, kvElementBytes: elementBytes, enforceEager: false, threadsPerWorker: 1, dtype } as const;
    if (estimateMemory({ facts, plan, workload, kind: 'device' }).totalBytes <= rankBytes) return tensor;
  }
  return node.gpus.length + 1;
}
