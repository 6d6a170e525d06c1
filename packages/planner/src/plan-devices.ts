// Which cores or GPUs each replica gets. Sets of GPUs are disjoint; cores are shared only where there are fewer than asked for.
import { AssayError, type Determinism } from '@assay/domain';
import { layOut, type ShapeFacts, requireDivisible } from './divisibility.ts';
import type { PlanWishes } from './plan-wishes.ts';

export interface GpuFacts {
  /** UUID or MIG id, as the driver names it; never taken for a number. */
  id: string;
  name: string;
  memoryBytes: number;
  freeBytes: number;
}

export interface NodeFacts {
  /** Numbers of the cores this process may use. */
  cpus: readonly number[];
  /** Memory that this node can still give. */
  memoryBytes: number;
  gpus: readonly GpuFacts[];
}

export interface DeviceLayout {
  data: number;
  tensor: number;
  pipeline: number;
  threadsPerWorker: number;
  cpuSets: number[][];
  deviceSets: string[][];
  why: string[];
}

interface LayoutInput {
  node: NodeFacts;
  facts: ShapeFacts;
  wishes: PlanWishes;
  determinism: Determinism;
  /** Devices that one replica needs for its memory alone. */
  minRanks: number;
}

/** Throws PLAN_IMPOSSIBLE where the model's shape or the number of devices forbids what was asked. */
export function layOutDevices(input: LayoutInput): DeviceLayout {
  const { tensor = 1, pipeline = 1 } = input.wishes;
  requireDivisible(input.facts, { tensor, pipeline });
  return input.node.gpus.length > 0 ? layOutGpus(input) : layOutCores(input);
}

function layOutCores({ node: { cpus }, wishes, determinism }: LayoutInput): DeviceLayout {
  const { tensor = 1, pipeline = 1 } = wishes;
  const ranks = tensor * pipeline;
  const cores = Math.max(1, cpus.length);
  const isFixed = determinism !== 'fast';
  const data = wishes.data ?? (isFixed ? Math.max(1, Math.floor(cores / ranks)) : 1);
  const threadsPerWorker = isFixed ? 1 : Math.max(1, Math.floor(cores / (data * ranks)));
  const why: string[] = [];
  if (isFixed) why.push(`one thread a worker: the number of threads changes sums, and results must not depend on the number of workers (${determinism})`);
  if (wishes.data === undefined) why.push(isFixed ? `${data} replicas, a core each` : 'one replica on all cores: as fast as one replica a core in decoding, and the weights are held once');
  if (data * ranks > cores) why.push(`${data * ranks} ranks share ${cores} cores`);
  const perReplica = threadsPerWorker * ranks;
  const cpuSets = Array.from({ length: data }, (_, replica) =>
    unique(Array.from({ length: perReplica }, (_unused, place) => cpus[(replica * perReplica + place) % cores] ?? 0)));
  return { data, tensor, pipeline, threadsPerWorker, cpuSets, deviceSets: [], why };
}

function unique(numbers: number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function layOutGpus({ node: { gpus, cpus }, facts, wishes, minRanks }: LayoutInput): DeviceLayout {
  const why: string[] = [];
  const layout = resolveGpuLayout({ gpus: gpus.length, facts, wishes, minRanks, why });
  const { data, tensor, pipeline } = layout;
  const ranks = tensor * pipeline;
  const deviceSets = Array.from({ length: data }, (_, replica) => gpus.slice(replica * ranks, (replica + 1) * ranks).map(({ id }) => id));
  return { ...layout, threadsPerWorker: Math.max(1, Math.floor(cpus.length / (data * ranks))), cpuSets: [], deviceSets, why };
}

interface GpuLayoutInput {
  gpus: number;
  facts: ShapeFacts;
  wishes: PlanWishes;
  minRanks: number;
  why: string[];
}

function resolveGpuLayout({ gpus, facts, wishes, minRanks, why }: GpuLayoutInput): { data: number; tensor: number; pipeline: number } {
  if (wishes.tensor !== undefined || wishes.pipeline !== undefined) {
    const { tensor = 1, pipeline = 1 } = wishes;
    const data = wishes.data ?? Math.max(1, Math.floor(gpus / (tensor * pipeline)));
    requireDevices(data * tensor * pipeline, gpus);
    return { data, tensor, pipeline };
  }
  const found = layOut(facts, wishes.data === undefined ? gpus : Math.floor(gpus / wishes.data), minRanks);
  if (!found) throw new AssayError('PLAN_IMPOSSIBLE', { problem: `one replica needs ${minRanks} GPUs, there are ${gpus}`, instead: 'Use more or larger GPUs, or a quantised model.' });
  const data = wishes.data ?? found.data;
  requireDevices(data * found.tensor * found.pipeline, gpus);
  if (found.tensor * found.pipeline === 1) why.push(`the model fits one GPU: ${data} replicas rather than one over ${gpus} tensor ranks`);
  else why.push(`the smallest split that fits and divides the heads: tensor=${found.tensor}, pipeline=${found.pipeline}`);
  if (found.spare > 0 && wishes.data === undefined) why.push(`${found.spare} of ${gpus} GPUs stay free: no allowed split uses them`);
  return { data, tensor: found.tensor, pipeline: found.pipeline };
}

function requireDevices(needed: number, gpus: number): void {
  if (needed <= gpus) return;
  throw new AssayError('PLAN_IMPOSSIBLE', { problem: `data × tensor × pipeline = ${needed}, there are ${gpus} GPUs`, instead: `Choose a product of at most ${gpus}.` });
}
