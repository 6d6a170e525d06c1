import { expect, test } from 'vitest';
import { processEnvOf } from './engine-environment.ts';

const own = { ASSAY_HOME: '/home', ASSAY_ENGINE: 'vllm' };
const onCpu = { home: '/home', engine: 'vllm', node: { gpus: [] }, layout: { threadsPerWorker: 2 }, env: {} };

test('on CPU a process begins with the threads of its layout, few arenas and no cache of freed pieces', () => {
  expect(processEnvOf(onCpu)).toEqual({ ...own, OMP_NUM_THREADS: '2', MALLOC_ARENA_MAX: '2', GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0' });
});

test('the user\'s own tunables stay', () => {
  const { GLIBC_TUNABLES } = processEnvOf({ ...onCpu, env: { GLIBC_TUNABLES: 'glibc.cpu.hwcaps=-AVX512F' } });
  expect(GLIBC_TUNABLES).toBe('glibc.malloc.tcache_count=0:glibc.cpu.hwcaps=-AVX512F');
});

test('on a GPU neither is set, also where a plan has laid the replicas out', () => {
  const gpu = { id: 'GPU-a', name: 'some GPU', memoryBytes: 1, freeBytes: 1, computeCapability: '9.0' };
  expect(processEnvOf({ ...onCpu, node: { gpus: [gpu] } })).toEqual(own);
  expect(processEnvOf({ ...onCpu, node: { gpus: [gpu] }, layout: undefined })).toEqual(own);
});
