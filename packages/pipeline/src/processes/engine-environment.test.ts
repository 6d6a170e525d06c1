import { expect, test } from 'vitest';
import { processEnvOf } from './engine-environment.ts';

const own = { ASSAY_HOME: '/home', ASSAY_ENGINE: 'vllm' };
const onCpu = { home: '/home', engine: 'vllm', node: { gpus: [] }, layout: { threadsPerWorker: 2 } };

test('on CPU a process begins with the threads of its layout and with few arenas', () => {
  expect(processEnvOf(onCpu)).toEqual({ ...own, OMP_NUM_THREADS: '2', MALLOC_ARENA_MAX: '2' });
});

test('on a GPU neither is set, also where a plan has laid the replicas out', () => {
  const gpu = { id: 'GPU-a', name: 'some GPU', memoryBytes: 1, freeBytes: 1, computeCapability: '9.0' };
  expect(processEnvOf({ ...onCpu, node: { gpus: [gpu] } })).toEqual(own);
  expect(processEnvOf({ ...onCpu, node: { gpus: [gpu] }, layout: undefined })).toEqual(own);
});
