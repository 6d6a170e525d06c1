import { expect, test } from 'vitest';
import { warnOfNode } from './node-warnings.ts';

const GIB = 2 ** 30;
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
  ['one rank', { layout: { ...layout, tensor: 1 }, facts: {} }],
  ['enough shared memory', { node: { ...node, shmBytes: GIB }, facts: {} }],
  ['wide vectors', { node: { ...node, shmBytes: GIB, instructionSets: ['avx2', 'avx512f'] } }],
  ['what nobody could tell', { node: { cpus: [0], memoryBytes: GIB, gpus: [] } }],
])('%s is worth no word', (_, change) => {
  expect(warnOfNode({ node, facts: awq, layout, ...change })).toEqual([]);
});
