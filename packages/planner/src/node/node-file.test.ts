import { type AssayError, GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { parseNodeFacts } from './node-file.ts';

const PLACES = { placeOf: (path: readonly PropertyKey[]) => `node.json:${path.join('/')}`, placeOfKey: (path: readonly PropertyKey[]) => `node.json:key ${path.join('/')}` };
const readNode = (content: unknown) => parseNodeFacts(content, PLACES);
const problemOf = (content: unknown) => {
  try {
    readNode(content);
    return 'nothing was thrown';
  } catch (thrown) {
    return (thrown as AssayError).message;
  }
};

test('a file of node facts is read as it is, sizes also with their unit, and what is unknown is refused by name', () => {
  const gpu = { id: 'GPU-1', name: 'NVIDIA L4', memoryBytes: '22GiB' };
  expect(readNode({ cpus: 4, memoryBytes: '64GiB', gpus: [gpu] })).toEqual({
    cpus: [0, 1, 2, 3], memoryBytes: 64 * GIB, gpus: [{ ...gpu, memoryBytes: 22 * GIB, freeBytes: 22 * GIB }],
  });
  expect(problemOf({ cpus: 4, memoryBytes: 1, gpu: [] })).toBe('node.json:key gpu: unknown key "gpu"');
  expect(problemOf({ cpus: 4, memoryBytes: 1, gpus: [{ ...gpu, nvlink: 1 }] })).toBe('node.json:key gpus/0/nvlink: unknown key "gpus.0.nvlink"');
  expect(problemOf({ cpus: 4, memoryBytes: 1, gpus: [{ name: 'x' }] })).toContain('node.json:gpus/0/id: gpus.0.id: ');
});

test.each([
  [{ memoryBytes: 'lots' }, 'node.json:memoryBytes: memoryBytes: expected a size above 0 such as 80GB or 64GiB, or a number of bytes, found "lots"'],
  [{ memoryBytes: undefined }, /^node.json:memoryBytes: memoryBytes: expected a size above 0 .*, found nothing$/],
  [{ memoryBytes: -1 }, /memoryBytes: expected a size above 0 .*, found -1$/],
  [{ shmBytes: true }, /^node.json:shmBytes: shmBytes: expected a size such as 80GB or 64GiB, or a number of bytes, found true$/],
  [{ gpus: [{ id: 'GPU-1', name: 'x', memoryBytes: '22 gigs' }] }, /^node.json:gpus\/0\/memoryBytes: gpus.0.memoryBytes: expected a size above 0 .*, found "22 gigs"$/],
  [{ cgroup: { memoryBytes: '1.5.5GB' } }, /^node.json:cgroup\/memoryBytes: cgroup.memoryBytes: expected a size such as/],
])('a size in a file that is none is refused with its key and place: %j', (change, problem) => {
  expect(problemOf({ cpus: 4, memoryBytes: 1, ...change })).toMatch(problem);
});

test('a file with more cores than machines have, or with one device twice, is refused', () => {
  const gpu = { id: 'GPU-1', name: 'NVIDIA L4', memoryBytes: '22GiB' };
  for (const cpus of [2 ** 31, 1e15, 0, 'four']) expect(problemOf({ cpus, memoryBytes: 1 })).toContain('node.json:cpus: cpus: expected a number of cores, 1 to 1024, or a list');
  expect(problemOf({ cpus: [0, 0], memoryBytes: 1 })).toContain('node.json:cpus: cpus: the same device stands there twice');
  expect(problemOf({ cpus: 4, memoryBytes: 1, gpus: [gpu, gpu] })).toContain('the same device stands there twice');
});
