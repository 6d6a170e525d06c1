// What a node lacks for a plan that can run there all the same: one sentence each, for people to read.
import { formatBytes, GIB } from '@assay/domain';
import type { ModelFacts } from '../model/model-facts.ts';
import type { NodeFacts } from '../node/node-facts.ts';
import type { Layout } from './plan-devices.ts';

interface Planned {
  node: NodeFacts;
  facts: Pick<ModelFacts, 'quantization'>;
  layout: Layout;
  limits?: { memory?: number | undefined };
}

// Ranks hand each other tensors through it; containers often have 64 MiB.
const SHARED_MEMORY_BYTES = GIB;
const WIDE_VECTORS = 'avx512f';
/** Methods whose kernels on CPU are made for wide vectors. */
const VECTOR_METHODS = /^(awq|gptq)/;

export function warnOfNode({ node, facts, layout, limits }: Planned): string[] {
  const { shmBytes, instructionSets, gpus } = node;
  const method = facts.quantization?.method ?? '';
  const warnings: string[] = warnOfLimit(node, layout, limits?.memory);
  if (layout.tensor > 1 && shmBytes !== undefined && shmBytes < SHARED_MEMORY_BYTES) {
    warnings.push(`/dev/shm has ${formatBytes(shmBytes)} free, and ${layout.tensor} tensor ranks talk through it: give the container at least 1 GiB (--shm-size) if they fail to start`);
  }
  if (gpus.length === 0 && VECTOR_METHODS.test(method) && instructionSets !== undefined && !instructionSets.includes(WIDE_VECTORS)) {
    warnings.push(`${method} on CPU is made for AVX-512, which this processor does not have: the engine may refuse it or be slow`);
  }
  return warnings;
}

/** A limit that something else ends before. */
function warnOfLimit({ memoryBytes, cgroup, gpus }: NodeFacts, { data }: Layout, limitBytes: number | undefined): string[] {
  if (limitBytes === undefined || gpus.length > 0 || data * limitBytes <= memoryBytes) return [];
  const left = `${formatBytes(memoryBytes)} left`;
  if (limitBytes <= memoryBytes) return [`${data} workers of ${formatBytes(limitBytes)} each (limits.memory) may want ${formatBytes(data * limitBytes)}, and this node has ${left}`];
  const room = cgroup?.memoryBytes !== undefined && cgroup.memoryBytes < limitBytes ? `the ${formatBytes(cgroup.memoryBytes)} of the control group around it, which has ${left}` : `this node has: ${left}`;
  return [`limits.memory ${formatBytes(limitBytes)} is more than ${room}; the plan keeps to that, and the kernel may end an engine before its limit is reached`];
}
