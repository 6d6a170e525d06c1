// Hardware that is not here, from what `--devices` says: a number of devices of a published kind, or of cores. node-file.ts reads a
// file of node facts in their place.
import { GIB } from '@assay/domain';
import { DEVICE_KINDS, findDeviceKind, nearKinds, refuseDevices } from './device-kinds.ts';
import type { NodeFacts } from './node-facts.ts';
import { countUp, MAX_CORES, MAX_DEVICES, readSize, SIZE_FORM } from './node-file.ts';

const FORMS = 'expected such as 8xH100-80GB, cpu:16, cpu:16:64GiB or a node.json';
// What machines are usually rented with.
const CORES_PER_GPU = 8;
const CORE_MEMORY_BYTES = 4 * GIB;

/** Throws CONFIG_VALUE for a form or a kind that is not known. */
export function imagineNode(text: string): NodeFacts {
  const cores = /^cpu:(\d+)(?::(.+))?$/i.exec(text.trim());
  if (cores) return imagineCores(Number(cores[1]), cores[2]);
  const gpus = /^(\d+)\s*[x×*]\s*(\S+)$/i.exec(text.trim());
  if (gpus) return imagineGpus(Number(gpus[1]), gpus[2]!);
  if (DEVICE_KINDS.some(({ name }) => name.toLowerCase() === text.trim().toLowerCase())) return imagineGpus(1, text.trim());
  const near = nearKinds(text.trim());
  throw refuseDevices(`"${text}": ${FORMS}${near.length > 0 ? `; did you mean 1x${near.join(' or 1x')}?` : ''}`);
}

function imagineCores(count: number, memory: string | undefined): NodeFacts {
  requireCount(count, 'cores', MAX_CORES);
  const memoryBytes = memory === undefined ? count * CORE_MEMORY_BYTES : readSize(memory);
  if (memoryBytes === undefined || memoryBytes === 0) throw refuseDevices(`"${memory}" for the memory of ${count} cores: ${SIZE_FORM}`);
  return { cpus: countUp(count), memoryBytes, gpus: [], compiler: 'assumed' };
}

function imagineGpus(count: number, kindName: string): NodeFacts {
  requireCount(count, 'devices', MAX_DEVICES);
  const { name, memoryBytes, link, capability } = findDeviceKind(kindName);
  const ids = countUp(count).map((number) => `${name}-${number}`);
  const gpus = ids.map((id) => ({
    id, name, memoryBytes, freeBytes: memoryBytes, computeCapability: (capability / 10).toFixed(1),
    ...(link.name === 'NVLink' ? { nvlinkPeers: ids.filter((other) => other !== id) } : {}),
  }));
  return { cpus: countUp(count * CORES_PER_GPU), memoryBytes: 2 * count * memoryBytes, gpus, compiler: 'assumed' };
}

function requireCount(count: number, what: string, most: number): void {
  if (count < 1 || count > most) throw refuseDevices(`${count} ${what}; 1 to ${most} can be planned for`);
}

