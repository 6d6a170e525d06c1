// Which cores or GPUs each replica gets. Sets of GPUs are disjoint; cores are shared only where there are fewer than asked for.
import { AssayError, type Determinism } from '@assay/domain';
import { requireDivisible, type ShapeFacts } from '../model/divisibility.ts';
import { countCores, type NodeFacts } from '../node/node-facts.ts';
import type { PlanWishes } from './plan-wishes.ts';

/** Replicas, and the ranks that each of them is cut over. */
export interface Layout {
  data: number;
  tensor: number;
  pipeline: number;
}

export interface DeviceLayout extends Layout {
  threadsPerWorker: number;
  cpuSets: number[][];
  deviceSets: string[][];
  why: string[];
}

/** Replicas that one core can serve, if slowly. */
const MAX_SHARERS = 8;

interface LayoutInput {
  node: NodeFacts;
  facts: ShapeFacts;
  wishes: PlanWishes;
  determinism: Determinism;
}

/**
 * The layout on cores that is taken wherever it fits: it depends on no request, so engines can start before there are any.
 * Throws PLAN_IMPOSSIBLE where the model's shape forbids what was asked.
 */
export function layOutCores({ node, facts, wishes, determinism }: LayoutInput): DeviceLayout {
  const { tensor = 1, pipeline = 1 } = wishes;
  requireDivisible(facts, { tensor, pipeline });
  const isFixed = determinism !== 'fast';
  const data = wishes.data ?? (isFixed ? Math.max(1, Math.floor(countCores(node) / (tensor * pipeline))) : 1);
  const layout = placeReplicas({ data, tensor, pipeline }, node, determinism);
  if (wishes.data === undefined) layout.why.push(isFixed ? `${data} replicas, a core each` : 'one replica on all cores: as fast as one replica a core in decoding, and the weights are held once');
  return layout;
}

/** Gives every replica its devices. Throws PLAN_IMPOSSIBLE where there are fewer GPUs than ranks. */
export function placeReplicas(layout: Layout, node: NodeFacts, determinism: Determinism): DeviceLayout {
  return node.gpus.length > 0 ? placeOnGpus(layout, node) : placeOnCores(layout, node, determinism);
}

function placeOnCores(layout: Layout, node: NodeFacts, determinism: Determinism): DeviceLayout {
  const { data, tensor, pipeline } = layout;
  const ranks = tensor * pipeline;
  const cores = countCores(node);
  if (data > MAX_SHARERS * cores) {
    throw new AssayError('PLAN_IMPOSSIBLE', { problem: `data=${data}, there are ${cores} cores`, instead: `Choose at most ${MAX_SHARERS * cores}, which is ${MAX_SHARERS} a core.` });
  }
  const isFixed = determinism !== 'fast';
  const threadsPerWorker = isFixed ? 1 : Math.max(1, Math.floor(cores / (data * ranks)));
  const why: string[] = [];
  if (isFixed) why.push(`one thread a worker: the number of threads changes sums, and results must not depend on the number of workers (${determinism})`);
  if (data * ranks > cores) why.push(`${data * ranks} ranks share ${cores} cores`);
  const isLimited = cores < node.cpus.length;
  if (isLimited) why.push(`${cores} of ${node.cpus.length} cores: the control group gives no more time than that`);
  const perReplica = threadsPerWorker * ranks;
  // Other groups share these cores, so which of them are free is the system's business; only ranks must be told.
  if (isLimited && ranks === 1) return { ...layout, threadsPerWorker, cpuSets: [], deviceSets: [], why };
  const cpuSets = Array.from({ length: data }, (_, replica) =>
    unique(Array.from({ length: perReplica }, (_unused, place) => node.cpus[(replica * perReplica + place) % cores] ?? 0)));
  return { ...layout, threadsPerWorker, cpuSets, deviceSets: [], why };
}

function unique(numbers: number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function placeOnGpus(layout: Layout, node: NodeFacts): DeviceLayout {
  const { gpus } = node;
  const { data, tensor, pipeline } = layout;
  const ranks = tensor * pipeline;
  if (data * ranks > gpus.length) {
    throw new AssayError('PLAN_IMPOSSIBLE', { problem: `data × tensor × pipeline = ${data * ranks}, there are ${gpus.length} GPUs`, instead: `Choose a product of at most ${gpus.length}.` });
  }
  if (ranks > 1 && gpus.slice(0, data * ranks).some(({ isMig }) => isMig)) {
    throw new AssayError('PLAN_IMPOSSIBLE', { problem: `${ranks} ranks would lie on slices of GPUs (MIG), which cannot talk to each other`, instead: 'Choose tensor=1 and pipeline=1, one replica a slice.' });
  }
  const deviceSets = Array.from({ length: data }, (_, replica) => gpus.slice(replica * ranks, (replica + 1) * ranks).map(({ id }) => id));
  return { ...layout, threadsPerWorker: Math.max(1, Math.floor(countCores(node) / (data * ranks))), cpuSets: [], deviceSets, why: [] };
}
