import type { Loaded } from '@assay/protocol';
import { expect, test } from 'vitest';
import { describeDevice } from './manifest-parts.ts';

const MIB = 2 ** 20;
const describe = (effective: object) => describeDevice({ effective } as unknown as Loaded);

test('a GPU stands in the manifest with its driver and the runtime that its rank computes with', () => {
  const devices = [{ 'name': 'NVIDIA H200', 'memory.total': '143771', 'driver_version': '570.1' }];
  expect(describe({ host: { devices }, parallel: { ranks: [{ runtime: '13.0' }] } })).toEqual({
    kind: 'cuda', name: 'NVIDIA H200', count: 1, memoryBytes: 143_771 * MIB, driver: '570.1', runtime: '13.0',
  });
});

test('a CPU has neither', () => {
  const host = { devices: [], processor: { model: 'CPU', count: 2 } };
  expect(describe({ host, parallel: { ranks: [{ runtime: null }] } })).toMatchObject({ kind: 'cpu', driver: null, runtime: null });
});
