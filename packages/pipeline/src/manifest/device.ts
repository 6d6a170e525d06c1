// What the ranks computed on, in their own words: never the node's inventory, which others share.
import { MIB } from '@assay/domain';
import type { Effective, ManifestInput, Rank } from '@assay/protocol';
import type { EngineRecord, ReplicaRecord } from '../records/engine-record.ts';

type Gpu = ManifestInput['device']['devices'][number];

export function describeDevice({ loaded: { effective }, replicas }: Pick<EngineRecord, 'loaded' | 'replicas'>): ManifestInput['device'] {
  const gpus = replicas.flatMap((replica) => listGpus(replica, effective.host));
  return gpus.length > 0 ? describeGpus(gpus, { replicas, host: effective.host }) : describeProcessor({ replicas, host: effective.host });
}

interface Seen {
  replicas: readonly ReplicaRecord[];
  host: Effective['host'];
}

function describeGpus(gpus: Gpu[], { replicas, host }: Seen): ManifestInput['device'] {
  const sizes = gpus.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  return {
    kind: 'cuda',
    name: distinct(gpus.map(({ name }) => name)).join(' + '),
    count: gpus.length,
    memoryBytes: sizes.length > 0 ? Math.min(...sizes) : null,
    driver: host.devices[0]?.['driver_version'] ?? null,
    runtime: ranksOf(replicas).find(({ runtime }) => runtime !== null)?.runtime ?? null,
    devices: gpus,
  };
}

function describeProcessor({ replicas, host }: Seen): ManifestInput['device'] {
  const cores = distinct(ranksOf(replicas).flatMap(({ affinity }) => affinity));
  return { kind: 'cpu', name: host.processor.model, count: cores.length || host.affinity.length, memoryBytes: null, driver: null, runtime: null, devices: [] };
}

/** Each rank's device. The simulated engine has no ranks: there the leases tell. */
function listGpus({ worker, devices, ranks }: ReplicaRecord, host: Effective['host']): Gpu[] {
  if (ranks.length === 0) return devices.map((id) => ({ id, worker, ...findRow(host, id) }));
  return ranks.filter(({ device }) => device !== 'cpu').map((rank) => {
    const id = devices[numberOf(rank)] ?? rank.device;
    const row = findRow(host, id);
    return { id, worker, name: rank.deviceName ?? row.name, memoryBytes: rank.deviceBytes ?? row.memoryBytes };
  });
}

/** nvidia-smi's line for a device; a slice has none. */
function findRow({ devices }: Effective['host'], id: string): Pick<Gpu, 'name' | 'memoryBytes'> {
  const row = devices.find(({ uuid }) => uuid === id);
  return { name: row?.['name'] ?? 'unknown', memoryBytes: Number(row?.['memory.total']) * MIB || null };
}

/** 1 of "cuda:1". */
const numberOf = ({ device }: Rank): number => Number(device.split(':')[1] ?? 0);
const ranksOf = (replicas: readonly ReplicaRecord[]): Rank[] => replicas.flatMap(({ ranks }) => ranks);
const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];
