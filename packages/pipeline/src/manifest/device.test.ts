import { GIB } from '@assay/domain';
import type { Loaded, Rank } from '@assay/protocol';
import { expect, test } from 'vitest';
import { buildSampleEffective, buildSampleRank } from '../../../../test/support/sample-effective.ts';
import { recordReplicas } from '../records/engine-record.ts';
import { describeDevice } from './device.ts';

// What nvidia-smi lists: the first GPU is somebody else's.
const NODE = [
  { index: '0', name: 'NVIDIA T4', uuid: 'GPU-other', driver_version: '570.1', 'memory.total': '15360' },
  { index: '1', name: 'NVIDIA H200', uuid: 'GPU-a', driver_version: '570.1', 'memory.total': '143771' },
  { index: '2', name: 'NVIDIA H200', uuid: 'GPU-b', driver_version: '570.1', 'memory.total': '143771' },
];

const onGpu = (fields: Partial<Rank>) => buildSampleRank({ deviceName: 'NVIDIA H200', deviceBytes: 139 * GIB, runtime: '13.0', ...fields });

/** One replica a list of ranks. */
function describe(deviceSets: string[][], ranks: Rank[][], devices: Record<string, string>[] = NODE) {
  const loaded = ranks.map((own) => ({ effective: buildSampleEffective({ ranks: own, devices }) }) as Loaded);
  return describeDevice({ loaded: loaded[0] as Loaded, replicas: recordReplicas({ deviceSets }, ranks.map((_, number) => `engine-${number}`), loaded) });
}

test('the GPUs of a run are those that its ranks computed on, by the ids that were leased, not the first of the node', () => {
  expect(describe([['GPU-a'], ['GPU-b']], [[onGpu({ device: 'cuda:0' })], [onGpu({ device: 'cuda:0' })]])).toEqual({
    kind: 'cuda', name: 'NVIDIA H200', count: 2, memoryBytes: 139 * GIB, driver: '570.1', runtime: '13.0',
    devices: [
      { id: 'GPU-a', worker: 'engine-0', name: 'NVIDIA H200', memoryBytes: 139 * GIB },
      { id: 'GPU-b', worker: 'engine-1', name: 'NVIDIA H200', memoryBytes: 139 * GIB },
    ],
  });
});

test('ranks of one replica count its GPUs in the order of its leases; kinds that differ are all named, and the smallest memory counts', () => {
  const ranks = [onGpu({ device: 'cuda:1', deviceName: 'NVIDIA L4', deviceBytes: 22 * GIB }), onGpu({ device: 'cuda:0' })];
  const { name, memoryBytes, devices } = describe([['GPU-a', 'GPU-b']], [ranks]);
  expect({ name, memoryBytes }).toEqual({ name: 'NVIDIA L4 + NVIDIA H200', memoryBytes: 22 * GIB });
  expect(devices.map(({ id, name: own }) => [id, own])).toEqual([['GPU-b', 'NVIDIA L4'], ['GPU-a', 'NVIDIA H200']]);
});

test('a slice has the name and memory that its rank sees; nvidia-smi lists only the GPU it is a part of', () => {
  const rank = onGpu({ device: 'cuda:0', deviceName: 'NVIDIA H200 MIG 1g.18gb', deviceBytes: 16 * GIB });
  expect(describe([['MIG-1']], [[rank]])).toMatchObject({ name: 'NVIDIA H200 MIG 1g.18gb', count: 1, memoryBytes: 16 * GIB, devices: [{ id: 'MIG-1' }] });
});

test('a run on the CPU of a node with GPUs is one on a CPU, with the cores that its ranks could use', () => {
  const ranks = [[buildSampleRank({ affinity: [0, 1] })], [buildSampleRank({ affinity: [2] })]];
  expect(describe([], ranks)).toEqual({ kind: 'cpu', name: 'A processor', count: 3, memoryBytes: null, driver: null, runtime: null, devices: [] });
});

test('the simulated engine has no ranks: its leases are named as nvidia-smi names them', () => {
  expect(describe([['GPU-other']], [[]])).toMatchObject({ kind: 'cuda', name: 'NVIDIA T4', count: 1, driver: '570.1', runtime: null });
});
