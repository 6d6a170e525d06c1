import { expect, test } from 'vitest';
import { countCores, type NodeFacts } from '../node/node-facts.ts';
import { layOutCores, placeReplicas } from './plan-devices.ts';

const nodeOf = (isMig: boolean): NodeFacts => ({
  cpus: [0, 1, 2, 3], memoryBytes: 1, gpus: Array.from({ length: 4 }, (_, index) => ({ id: `GPU-${index}`, name: 'NVIDIA L4', memoryBytes: 1, freeBytes: 1, isMig })),
});

test('replicas get disjoint sets of GPUs that are complete', () => {
  expect(placeReplicas({ data: 2, tensor: 2, pipeline: 1 }, nodeOf(false), 'fast').deviceSets).toEqual([['GPU-0', 'GPU-1'], ['GPU-2', 'GPU-3']]);
  expect(placeReplicas({ data: 4, tensor: 1, pipeline: 1 }, nodeOf(true), 'fast').deviceSets).toEqual([['GPU-0'], ['GPU-1'], ['GPU-2'], ['GPU-3']]);
});

test('ranks of one replica are never laid over slices, which cannot talk to each other', () => {
  expect(() => placeReplicas({ data: 2, tensor: 2, pipeline: 1 }, nodeOf(true), 'fast')).toThrow('2 ranks would lie on slices of GPUs (MIG)');
});

test('replicas beyond what the cores can serve are refused before any is started', () => {
  const facts = { heads: 0, kvHeads: 0, hidden: 0, intermediate: 0, vocab: 0, layers: 0 };
  const node = { cpus: [0, 1], memoryBytes: 1, gpus: [] };
  expect(layOutCores({ node, facts, wishes: { data: 16 }, determinism: 'fast' }).data).toBe(16);
  expect(() => layOutCores({ node, facts, wishes: { data: 1_000_000_000 }, determinism: 'fast' })).toThrow('data=1000000000, there are 2 cores');
});

test('a control group that gives less time than there are cores decides the threads and replicas, and pins nothing', () => {
  const node = { cpus: Array.from({ length: 64 }, (_, core) => core), memoryBytes: 1, gpus: [], cgroup: { cpus: 2.5 } };
  const facts = { heads: 0, kvHeads: 0, hidden: 0, intermediate: 0, vocab: 0, layers: 0 };
  expect(layOutCores({ node, facts, wishes: {}, determinism: 'fast' })).toMatchObject({ data: 1, threadsPerWorker: 2, cpuSets: [] });
  expect(layOutCores({ node, facts, wishes: {}, determinism: 'strict' })).toMatchObject({ data: 2, threadsPerWorker: 1, cpuSets: [] });
  expect(placeReplicas({ data: 1, tensor: 2, pipeline: 1 }, node, 'fast')).toMatchObject({ threadsPerWorker: 1, cpuSets: [[0, 1]] });
  expect(placeReplicas({ data: 1, tensor: 1, pipeline: 1 }, node, 'fast').why).toEqual(['2 of 64 cores: the control group gives no more time than that']);
  expect(countCores({ cpus: [0, 1], cgroup: { cpus: 0.5 } })).toBe(1);
  expect(countCores({ cpus: [0, 1], cgroup: { cpus: 8 } })).toBe(2);
});
