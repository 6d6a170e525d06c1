// What this machine has: processors, memory, devices, disk. Facts only; diagnose.ts says what they mean.
import { availableParallelism, cpus, totalmem } from 'node:os';
import { AssayError } from '@assay/domain';
import { type NodeFacts, readNodeFacts } from '@assay/pipeline';
import { freeBytes } from '@assay/store';

const CHOICE = 'CUDA_VISIBLE_DEVICES';

export interface MachineFacts {
  node: string;
  platform: string;
  cpus: { count: number; model: string };
  memoryBytes: number;
  diskFreeBytes: number;
  gpus: { name: string; memoryBytes: number }[];
  /** Devices that no run would take as they are, and why. */
  leftOut: NonNullable<NodeFacts['leftOut']>;
}

export async function probeMachine(home: string, env: Record<string, string | undefined>): Promise<MachineFacts> {
  const { gpus, leftOut = [] } = await readNodeFacts(env).catch(describeRefusal);
  return {
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    cpus: { count: availableParallelism(), model: cpus()[0]?.model.trim() ?? 'unknown' },
    memoryBytes: usableMemory(),
    diskFreeBytes: await freeBytes(home).catch(() => 0),
    gpus: gpus.map(({ name, memoryBytes }) => ({ name, memoryBytes })),
    leftOut,
  };
}

/** A choice of devices that a run would refuse is what this check is to tell. */
function describeRefusal(thrown: unknown): Pick<NodeFacts, 'gpus' | 'leftOut'> {
  if (!(thrown instanceof AssayError && thrown.code === 'DEVICE_UNKNOWN')) throw thrown;
  return { gpus: [], leftOut: [{ id: CHOICE, name: CHOICE, why: `${thrown.message}: a run would be refused` }] };
}

/** A container's limit where there is one. Without one, Node answers 0 or a number no machine has. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
