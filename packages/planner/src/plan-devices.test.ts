import { expect, test } from 'vitest';
import type { NodeFacts } from './node-facts.ts';
import { placeReplicas } from './plan-devices.ts';

const nodeOf = (isMig: boolean): NodeFacts => ({
  cpus: [0, 1, 2, 3], memoryBytes: 1, gpus: Array.from({ length: 4 }, (_, index) => ({ id: `GPU-${index}`, name: 'NVIDIA L4', memoryBytes: 1, freeBytes: 1, isMig })),
});

test('L07: replicas get disjoint sets of GPUs that are complete', () => {
  expect(placeReplicas({ data: 2, tensor: 2, pipeline: 1 }, nodeOf(false), 'fast').deviceSets).toEqual([['GPU-0', 'GPU-1'], ['GPU-2', 'GPU-3']]);
  expect(placeReplicas({ data: 4, tensor: 1, pipeline: 1 }, nodeOf(true), 'fast').deviceSets).toEqual([['GPU-0'], ['GPU-1'], ['GPU-2'], ['GPU-3']]);
});

test('L10: ranks of one replica are never laid over slices, which cannot talk to each other', () => {
  expect(() => placeReplicas({ data: 2, tensor: 2, pipeline: 1 }, nodeOf(true), 'fast')).toThrow('2 ranks would lie on slices of GPUs (MIG)');
});
