import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { warnOfNode } from './node-warnings.ts';

const node = { cpus: [0], memoryBytes: GIB, gpus: [], shmBytes: 64 * 2 ** 20, instructionSets: ['avx2'] };
const awq = { quantization: { method: 'awq', bits: 4 } };
const layout = { data: 1, tensor: 2, pipeline: 1 };

test('little shared memory is named where ranks talk through it, and narrow vectors where kernels are made for wide ones', () => {
  expect(warnOfNode({ node, facts: awq, layout })).toEqual([
    '/dev/shm has 64.0 MiB free, and 2 tensor ranks talk through it: give the container at least 1 GiB (--shm-size) if they fail to start',
    'awq on CPU is made for AVX-512, which this processor does not have: the engine may refuse it or be slow',
  ]);
});

test.each([
  ['the machine has less', { memoryBytes: 15 * GIB }, 1, 'limits.memory 16.0 GiB is more than this node has: 15.0 GiB left; the plan keeps to that, and the kernel may end an engine before its limit is reached'],
  ['the group around it has less', { memoryBytes: 7 * GIB, cgroup: { memoryBytes: 8 * GIB } }, 2, 'limits.memory 16.0 GiB is more than the 8.00 GiB of the control group around it, which has 7.00 GiB left; the plan keeps to that, and the kernel may end an engine before its limit is reached'],
  ['all workers together may want more', { memoryBytes: 40 * GIB, cgroup: { memoryBytes: 64 * GIB } }, 3, '3 workers of 16.0 GiB each (limits.memory) may want 48.0 GiB, and this node has 40.0 GiB left'],
])('a limit that is not reached since %s is warned of, once', (_, change, data, warning) => {
  expect(warnOfNode({ node: { cpus: [0], gpus: [], ...change }, facts: {}, layout: { data, tensor: 1, pipeline: 1 }, limits: { memory: 16 * GIB } })).toEqual([warning]);
});

test.each([
  ['a limit that there is room for', { layout: { ...layout, tensor: 1 }, facts: {}, node: { cpus: [0], memoryBytes: 16 * GIB, gpus: [] }, limits: { memory: 16 * GIB } }],
  ['one rank', { layout: { ...layout, tensor: 1 }, facts: {} }],
  ['enough shared memory', { node: { ...node, shmBytes: GIB }, facts: {} }],
  ['wide vectors', { node: { ...node, shmBytes: GIB, instructionSets: ['avx2', 'avx512f'] } }],
  ['what nobody could tell', { node: { cpus: [0], memoryBytes: GIB, gpus: [] } }],
])('%s is worth no word', (_, change) => {
  expect(warnOfNode({ node, facts: awq, layout, ...change })).toEqual([]);
});
