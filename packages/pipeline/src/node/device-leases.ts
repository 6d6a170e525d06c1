// The GPUs of this node, taken for one run. What others use is left out, with the process named and a warning shown.
import { AssayError } from '@assay/domain';
import type { LeftOutDevice, NodeFacts } from '@assay/planner';
import { leaseDevices } from '@assay/store';
import { type RunContext, showWarning } from '../run-context.ts';
import { VISIBLE_DEVICES } from './visible-devices.ts';

interface LeasedNode {
  /** The node without the GPUs that others hold. */
  node: NodeFacts;
  /** Gives them all back; harmless when repeated. */
  release(): void;
}

/**
 * All GPUs of `node` that are free, until `release`: a rung may need more of them than the first plan. Nothing is leased on a
 * node without GPUs. Throws DEVICES_BUSY where there are GPUs and not one is free.
 */
export async function leaseNode(home: string, node: NodeFacts): Promise<LeasedNode> {
  const { leased, busy, release } = await leaseDevices(home, node.gpus.map(({ id }) => id));
  const holders = new Map(busy.map(({ id, pid }) => [id, pid]));
  const others = node.gpus.filter(({ id }) => holders.has(id)).map(({ id, name }) => ({ id, name, why: `leased by another run (pid ${holders.get(id) ?? 'unknown'})` }));
  const left = { ...node, gpus: node.gpus.filter(({ id }) => leased.includes(id)), leftOut: [...(node.leftOut ?? []), ...others] };
  try {
    requireDevice(left);
  } catch (thrown) {
    release();
    throw thrown;
  }
  return { node: left, release };
}

/** Falling back to the CPU is nothing that a user would expect, unless they left the GPUs out themselves. Throws DEVICES_BUSY. */
export function requireDevice({ gpus, leftOut = [] }: Pick<NodeFacts, 'gpus' | 'leftOut'>): void {
  const devices = leftOut.filter(({ id }) => /^(GPU|MIG)-/.test(id));
  if (gpus.length > 0 || devices.length === 0 || leftOut.some(({ id }) => id === VISIBLE_DEVICES)) return;
  throw new AssayError('DEVICES_BUSY', { devices: devices.map(describeLeftOut).join('; ') });
}

/** "NVIDIA L4 GPU-8932f937…: in use by process 4242 (python3), …" */
export function describeLeftOut({ id, name, why }: LeftOutDevice): string {
  return id === name ? why : `${name} ${id}: ${why}`;
}

/** The devices of one run, from its begin to its close. */
export class DeviceLeases {
  #release: () => void = () => undefined;

  /** Throws DEVICES_BUSY. */
  async take(context: RunContext, found: NodeFacts): Promise<NodeFacts> {
    const { node, release } = await leaseNode(context.home, found);
    this.#release = release;
    for (const device of node.leftOut ?? []) showWarning(context, `left out: ${describeLeftOut(device)}`, { device });
    return node;
  }

  release(): void {
    this.#release();
  }
}
