// One layout worked out: places, batch limits, cache and memory. What layouts are compared by is made of these.
import { AssayError, type Determinism, GIB, type PlanRequest } from '@assay/domain';
import type { RequestIndex } from '@assay/protocol';
import { smallestGpu } from '../node/device-kinds.ts';
import { allowedTensorSizes } from '../model/divisibility.ts';
import { resolveDtype, type RunDtype } from '../model/dtypes.ts';
import { kvElementBytes, resolveWindow } from '../model/kv-cache.ts';
import { explainLimit, mostReplicas } from '../limit-replicas.ts';
import type { MemoryKind } from '../memory/memory-kind.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { countCores, type NodeFacts } from '../node/node-facts.ts';
import { warnOfNode } from './node-warnings.ts';
import { planBatches, sizeOfBatches } from './plan-batch.ts';
import { type DeviceLayout, type Layout, placeReplicas } from './plan-devices.ts';
import { type Fit, fitMemory, type PlanDraft } from './plan-memory.ts';
import { type PlanWishes, readPlanWishes } from './plan-wishes.ts';
import type { Plan } from '../plan.ts';
import type { ExpectedNewTokens } from '../requests/request-lengths.ts';
import type { MemoryResiduals } from '../memory/residual.ts';
import type { TimeCorrections } from '../time/estimate-time.ts';
import { describeUnknown } from './unknown-terms.ts';
import { quantizeFacts } from './weight-wishes.ts';
import { summarizeWorkload, type Workload, type WorkloadSummary } from '../requests/workload.ts';

// vLLM's own default share of a GPU leaves too little beside it for prompt log-probabilities.
const GPU_SHARE = 0.9;
// Older devices have no 16-bit type with float32's range.
const BFLOAT16_CAPABILITY = 8;

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
  /** How long answers were: for the predicted time alone. What is decided goes by their budgets, the same whatever ran before. */
  expectedNewTokens?: ExpectedNewTokens | undefined;
  /** What earlier runs of these weights on this build and device have shown beyond the model. */
  residuals?: MemoryResiduals | undefined;
  /** What they have shown of the predicted times of a plan. */
  correctionsOf?: ((plan: Plan) => TimeCorrections | undefined) | undefined;
}

/** What all layouts of one run have in common. */
export interface PlanBasis {
  input: PlanInput;
  device: 'cpu' | 'cuda';
  /** As the engine will hold the weights. */
  facts: ModelFacts;
  wishes: PlanWishes;
  workload: Workload;
  /** With answers as long as they usually are. */
  expectedWorkload: WorkloadSummary;
  dtype: RunDtype;
  /** Decisions that hold for all of them. */
  why: string[];
}

export function readBasis(input: PlanInput): PlanBasis {
  const { modelArgs, determinism, node, facts } = input;
  const asked = readPlanWishes({ plan: input.plan, modelArgs, maxBatchSize: input.maxBatchSize, determinism });
  const { why, dtype } = resolveDeviceDtype(modelArgs.dtype, facts, node);
  // On cores the number of replicas says how many threads each gets, so it has to be right before they are placed.
  const isMoreThanNeeded = node.gpus.length === 0 && asked.data !== undefined && asked.data > mostReplicas(asked.data, input.index.count);
  const wishes = isMoreThanNeeded ? { ...asked, data: mostReplicas(asked.data!, input.index.count) } : asked;
  return {
    input, wishes, dtype,
    why: isMoreThanNeeded ? [explainLimit(asked.data!, input.index.count), ...why] : why,
    device: node.gpus.length > 0 ? 'cuda' : 'cpu',
    facts: quantizeFacts(facts, wishes.quantization),
    ...summarizeBoth(input),
  };
}

function summarizeBoth({ index, expectedNewTokens }: PlanInput): Pick<PlanBasis, 'workload' | 'expectedWorkload'> {
  const workload = summarizeWorkload(index);
  return { workload, expectedWorkload: expectedNewTokens ? summarizeWorkload(index, expectedNewTokens) : workload };
}

/** The run's type, or float16 where the devices have no bfloat16 and none was asked for. Throws PLAN_IMPOSSIBLE where it was. */
function resolveDeviceDtype(asked: unknown, facts: ModelFacts, { gpus }: NodeFacts): { dtype: RunDtype; why: string[] } {
  const dtype = resolveDtype(asked, facts);
  const old = gpus.find(({ computeCapability }) => Number(computeCapability ?? Infinity) < BFLOAT16_CAPABILITY);
  if (!old || dtype !== 'bfloat16') return { dtype, why: [] };
  const problem = `${old.name} has no bfloat16 (compute capability ${old.computeCapability})`;
  if (asked === undefined || asked === null || asked === 'auto') return { dtype: 'float16', why: [`dtype=float16: ${problem}`] };
  throw new AssayError('PLAN_IMPOSSIBLE', { problem, instead: 'Use dtype=float16, or leave it out.' });
}

/** Throws PLAN_IMPOSSIBLE where the tier, the shape or the devices forbid this layout. */
export function fitLayout(basis: PlanBasis, layout: DeviceLayout): Fit {
  const { input, device, facts, wishes, workload, dtype } = basis;
  const { determinism, node, maxModelLen } = input;
  const { why: whyBatches, ...batches } = planBatches({ device, size: sizeOfBatches(smallestGpu(node)), compiler: node.compiler, facts, layout, wishes, determinism, workload });
  const window = resolveWindow(facts, maxModelLen, workload.longestTokens);
  const { bytes: memoryLimitBytes, kind } = resolveLimit(basis, layout);
  const cpuOffloadBytes = device === 'cuda' ? (wishes.cpuOffloadGib ?? 0) * GIB : 0;
  const draft = {
    device, determinism, dtype, memoryLimitBytes, ...layout, ...batches,
    ...(cpuOffloadBytes > 0 ? { cpuOffloadBytes } : {}),
    maxModelLen: window.window,
    kvElementBytes: kvElementBytes(input.modelArgs.kv_cache_dtype, dtype),
    ...listRungRoom(basis),
    why: [...layout.why, ...basis.why, ...whyBatches, ...(window.warning ? [window.warning] : []), ...describeUnknown(facts), ...warnOfNode({ node, facts, layout, limits: input.limits })],
  } satisfies PlanDraft;
  return fitMemory({ draft, facts, wishes, workload, kind, residuals: input.residuals });
}

/** What rungs may choose from: what planning would refuse they must not take, and what the user asked for stays. */
function listRungRoom({ facts, wishes, input: { node: { cpus, gpus } } }: PlanBasis): Pick<Plan, 'tensorSizes' | 'rungRoom'> {
  const maySplit = !gpus.some(({ isMig }) => isMig);
  const tensorSizes = allowedTensorSizes(facts, Math.max(1, gpus.length || cpus.length)).filter((tensor) => tensor === (wishes.tensor ?? (maySplit ? tensor : 1)));
  if (gpus.length === 0) return { tensorSizes };
  // Layers that are not known (0) refuse nothing.
  const maxPipeline = wishes.pipeline ?? (maySplit ? facts.layers || gpus.length : 1);
  return { tensorSizes, rungRoom: { deviceIds: gpus.map(({ id }) => id), maxPipeline, keepsData: wishes.data !== undefined } };
}

export function placeLayout({ input: { node, determinism } }: PlanBasis, layout: Layout): DeviceLayout {
  return placeReplicas(layout, node, determinism);
}

function resolveLimit({ input: { limits, node, determinism }, device, wishes }: PlanBasis, { data, tensor, pipeline }: Layout): { bytes: number; kind: MemoryKind } {
  if (device === 'cuda') {
    // It would be enforced on the address space, of which CUDA reserves far more than a device has.
    if (limits.memory !== undefined) {
      throw new AssayError('PLAN_IMPOSSIBLE', { problem: 'limits.memory is for workers on CPU, and this plan is for GPUs', instead: 'Use model_args gpu_memory_utilization, a share of each GPU.' });
    }
    const share = wishes.gpuMemoryUtilization ?? GPU_SHARE;
    return { bytes: Math.min(...node.gpus.map(({ memoryBytes, freeBytes }) => Math.min(memoryBytes * share, freeBytes))), kind: 'device' };
  }
  const ranks = data * tensor * pipeline;
  // A limit is each worker's; without one, replicas and their ranks share what the node has. Where results may not depend on the
  // number of replicas, neither may the share, which sizes the cache.
  const shares = determinism === 'fast' ? ranks : Math.max(ranks, countCores(node));
  const limit = bindingLimit({ limits, node });
  if (limit === undefined) return { bytes: Math.floor(node.memoryBytes / shares), kind: 'resident' };
  // A control group holds all ranks of a worker; an address space is each process's own.
  if (limits.kind === 'cgroup') return { bytes: Math.floor(limit / (tensor * pipeline)), kind: 'resident' };
  return { bytes: limit, kind: 'address_space' };
}

/** limits.memory, but for one beyond what there is: that limits nothing. */
export function bindingLimit({ limits, node }: Pick<PlanInput, 'limits' | 'node'>): number | undefined {
  return limits.memory !== undefined && limits.memory <= node.memoryBytes ? limits.memory : undefined;
}
