// The user's own choice of devices, CUDA_VISIBLE_DEVICES, which holds before anything else. Ids are opaque: a UUID, its
// beginning, a slice's id or a number; never is one taken for another. A choice that leaves no GPU is said, never fallen back from
// in silence.
import { AssayError } from '@assay/domain';
import type { LeftOutDevice } from '@assay/planner';

export interface Selectable {
  id: string;
  /** Number of the GPU in the driver's order; slices carry their GPU's. */
  index: number;
  /** UUID of the GPU that a slice is a part of. */
  parent?: string;
}

export const VISIBLE_DEVICES = 'CUDA_VISIBLE_DEVICES';
// What CUDA takes for "nothing from here on".
const END_OF_LIST = new Set(['-1', 'NoDevFiles']);

/**
 * Without a choice all; an empty one means none. Throws DEVICE_UNKNOWN for a name that fits no device or several, and for a device
 * that is named twice.
 */
export function selectVisible<Device extends Selectable>(devices: readonly Device[], visible: string | undefined): Device[] {
  if (visible === undefined) return [...devices];
  const chosen: Device[] = [];
  const strangers: string[] = [];
  for (const name of listNames(visible)) {
    const found = findDevice(devices, name);
    if (found === undefined) strangers.push(name);
    else if (chosen.includes(found)) throw refuse(name === found.id ? `${name} twice` : `${found.id} twice, the second time as ${name}`);
    else chosen.push(found);
  }
  if (strangers.length > 0) throw refuseStrangers(devices, strangers);
  return chosen;
}

/** What a choice means that leaves a node with GPUs none, or names one on a node without. Of any other there is nothing to say. */
export function explainNoChoice(gpuCount: number, visible: string | undefined): LeftOutDevice[] {
  if (visible === undefined) return [];
  const isNone = listNames(visible).length === 0;
  if (isNone !== gpuCount > 0) return [];
  const all = gpuCount === 1 ? 'the GPU of this node is' : `the ${gpuCount} GPUs of this node are`;
  const why = isNone ? `is ${visible.trim() || 'empty'}, so ${all} not used` : `is ${visible}, and no GPU was found here`;
  return [{ id: VISIBLE_DEVICES, name: VISIBLE_DEVICES, why: `${VISIBLE_DEVICES} ${why}: this run is on the CPU` }];
}

function listNames(visible: string): string[] {
  const names = visible.split(',').map((part) => part.trim()).filter(Boolean);
  const end = names.findIndex((name) => END_OF_LIST.has(name));
  return end === -1 ? names : names.slice(0, end);
}

/** A GPU that is cut into slices stands for its first one, as it does for CUDA. */
function findDevice<Device extends Selectable>(devices: readonly Device[], name: string): Device | undefined {
  const exact = devices.find(({ id, index, parent }) => id === name || parent === name || String(index) === name);
  if (exact) return exact;
  if (!/^(GPU|MIG)-/.test(name)) return undefined;
  const [first, second] = devices.filter(({ id, parent }) => id.startsWith(name) || parent?.startsWith(name));
  if (first && second && (first.parent === undefined || first.parent !== second.parent || first.id.startsWith(name))) {
    throw refuse(`${name}, and so begin ${first.id} and ${second.id}`);
  }
  return first;
}

function refuse(problem: string): AssayError {
  return new AssayError('DEVICE_UNKNOWN', { problem });
}

function refuseStrangers(devices: readonly Selectable[], strangers: readonly string[]): AssayError {
  return refuse(`${strangers.join(', ')}, and this node has ${devices.map(({ id, index }) => `${index} (${id})`).join(', ') || 'no slice to use'}`);
}
