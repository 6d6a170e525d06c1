// The user's own choice of devices, CUDA_VISIBLE_DEVICES, which holds before anything else. Ids are opaque: a UUID, its
// beginning, a slice's id or a number; never is one taken for another.
import { AssayError } from '@assay/domain';

export interface Selectable {
  id: string;
  /** Number of the GPU in the driver's order; slices carry their GPU's. */
  index: number;
  /** UUID of the GPU that a slice is a part of. */
  parent?: string;
}

interface Selection<Device> {
  chosen: Device[];
  /** Names that fit no device here. */
  strangers: string[];
}

// What CUDA takes for "nothing from here on".
const END_OF_LIST = new Set(['-1', 'NoDevFiles']);

/** Without a choice all; an empty one means none. Throws CONFIG_VALUE where a device is named twice or a beginning fits several. */
export function selectVisible<Device extends Selectable>(devices: readonly Device[], visible: string | undefined): Selection<Device> {
  if (visible === undefined) return { chosen: [...devices], strangers: [] };
  const chosen: Device[] = [];
  const strangers: string[] = [];
  for (const name of visible.split(',').map((part) => part.trim()).filter(Boolean)) {
    if (END_OF_LIST.has(name)) break;
    const found = findDevice(devices, name);
    if (found === undefined) strangers.push(name);
    else if (chosen.includes(found)) throw refuse(`${name} names ${found.id} a second time`);
    else chosen.push(found);
  }
  return { chosen, strangers };
}

/** A GPU that is cut into slices stands for its first one, as it does for CUDA. */
function findDevice<Device extends Selectable>(devices: readonly Device[], name: string): Device | undefined {
  const exact = devices.find(({ id, index, parent }) => id === name || parent === name || String(index) === name);
  if (exact) return exact;
  if (!/^(GPU|MIG)-/.test(name)) return undefined;
  const [first, second] = devices.filter(({ id, parent }) => id.startsWith(name) || parent?.startsWith(name));
  if (first && second && (first.parent === undefined || first.parent !== second.parent || first.id.startsWith(name))) {
    throw refuse(`${name} is the beginning of ${first.id} and of ${second.id}`);
  }
  return first;
}

function refuse(problem: string): AssayError {
  return new AssayError('CONFIG_VALUE', { place: 'environment', key: 'CUDA_VISIBLE_DEVICES', problem });
}
