import type { AssayError } from '@assay/domain';
import { expect, test } from 'vitest';
import { DEVICE_KINDS, describeDevices, findDeviceKind, recognizeDevice } from './device-kinds.ts';
import { imagineNode, parseNodeFacts } from './imagined-node.ts';

const GIB = 2 ** 30;
const PLACES = { placeOf: (path: readonly PropertyKey[]) => `node.json:${path.join('/')}`, placeOfKey: (path: readonly PropertyKey[]) => `node.json:key ${path.join('/')}` };
const readNode = (content: unknown) => parseNodeFacts(content, PLACES);
const problemOf = (act: () => unknown) => {
  try {
    act();
    return 'nothing was thrown';
  } catch (thrown) {
    return (thrown as AssayError).message;
  }
};

test('a number of a known kind is a node with that many of it', () => {
  const node = imagineNode('8xH100-80GB');
  expect(node.gpus).toHaveLength(8);
  expect(new Set(node.gpus.map(({ id }) => id)).size).toBe(8);
  expect(node.gpus[0]).toMatchObject({ name: 'H100-80GB', memoryBytes: 81_559 * 2 ** 20, computeCapability: '9.0' });
  expect(node.gpus[0]?.nvlinkPeers).toHaveLength(7);
  expect(imagineNode('2xrtx4090').gpus[0]).not.toHaveProperty('nvlinkPeers');
  expect([imagineNode('L4'), imagineNode('1 x L4'), imagineNode('1×l4')].map(describeDevices)).toEqual(['1 × L4', '1 × L4', '1 × L4']);
});

test('cores have 4 GiB each unless the memory is said', () => {
  expect(imagineNode('cpu:16')).toMatchObject({ memoryBytes: 64 * GIB, gpus: [] });
  expect(imagineNode('cpu:2:5GiB')).toMatchObject({ cpus: [0, 1], memoryBytes: 5 * GIB });
});

test.each([
  ['8xH100-80G', 'unknown kind of device "H100-80G"; did you mean H100-80GB'],
  ['2xRTX409', 'did you mean RTX4090'],
  ['4xMI300X', 'known are cpu, A100-40GB'],
  ['0xL4', '0 devices; 1 to 64 can be planned for'],
  ['H100-80', 'did you mean 1xH100-80GB'],
  ['many', 'expected such as 8xH100-80GB, cpu:16'],
  ['cpu:4:lots', 'command line: --devices: "lots" for the memory of 4 cores: expected a size above 0 such as 80GB or 64GiB'],
  ['cpu:4:0', 'command line: --devices: "0" for the memory of 4 cores: expected a size above 0'],
  ['cpu:4:99999999999GiB', 'command line: --devices: "99999999999GiB" for the memory'],
])('%s is refused: %s', (text, problem) => {
  expect(problemOf(() => imagineNode(text))).toContain(problem);
});

test('a file of node facts is read as it is, sizes also with their unit, and what is unknown is refused by name', () => {
  const gpu = { id: 'GPU-1', name: 'NVIDIA L4', memoryBytes: '22GiB' };
  expect(readNode({ cpus: 4, memoryBytes: '64GiB', gpus: [gpu] })).toEqual({
    cpus: [0, 1, 2, 3], memoryBytes: 64 * GIB, gpus: [{ ...gpu, memoryBytes: 22 * GIB, freeBytes: 22 * GIB }],
  });
  expect(problemOf(() => readNode({ cpus: 4, memoryBytes: 1, gpu: [] }))).toBe('node.json:key gpu: unknown key "gpu"');
  expect(problemOf(() => readNode({ cpus: 4, memoryBytes: 1, gpus: [{ ...gpu, nvlink: 1 }] }))).toBe('node.json:key gpus/0/nvlink: unknown key "gpus.0.nvlink"');
  expect(problemOf(() => readNode({ cpus: 4, memoryBytes: 1, gpus: [{ name: 'x' }] }))).toContain('node.json:gpus/0/id: gpus.0.id: ');
});

test.each([
  [{ memoryBytes: 'lots' }, 'node.json:memoryBytes: memoryBytes: expected a size above 0 such as 80GB or 64GiB, or a number of bytes, found "lots"'],
  [{ memoryBytes: undefined }, /^node.json:memoryBytes: memoryBytes: expected a size above 0 .*, found nothing$/],
  [{ memoryBytes: -1 }, /memoryBytes: expected a size above 0 .*, found -1$/],
  [{ shmBytes: true }, /^node.json:shmBytes: shmBytes: expected a size such as 80GB or 64GiB, or a number of bytes, found true$/],
  [{ gpus: [{ id: 'GPU-1', name: 'x', memoryBytes: '22 gigs' }] }, /^node.json:gpus\/0\/memoryBytes: gpus.0.memoryBytes: expected a size above 0 .*, found "22 gigs"$/],
  [{ cgroup: { memoryBytes: '1.5.5GB' } }, /^node.json:cgroup\/memoryBytes: cgroup.memoryBytes: expected a size such as/],
])('a size in a file that is none is refused with its key and place: %j', (change, problem) => {
  expect(problemOf(() => readNode({ cpus: 4, memoryBytes: 1, ...change }))).toMatch(problem);
});

test.each([
  ['NVIDIA H100 80GB HBM3', 'H100-80GB'], ['NVIDIA H100 PCIe', 'H100-PCIe-80GB'], ['NVIDIA H200', 'H200-141GB'], ['NVIDIA A100-SXM4-80GB', 'A100-80GB'], ['NVIDIA A100-PCIE-40GB', 'A100-40GB'],
  ['NVIDIA L4', 'L4'], ['NVIDIA L40S', 'L40S'], ['NVIDIA GeForce RTX 4090', 'RTX4090'], ['NVIDIA GeForce RTX 3090', 'RTX3090'], ['Tesla V100-SXM2-16GB', 'V100-16GB'], ['Tesla V100-SXM2-32GB', 'V100-32GB'],
  ['NVIDIA A10G', 'A10G'], ['Tesla T4', 'T4'], ['NVIDIA B200', 'B200'], ['Something New', 'unknown'],
])('the driver\'s %s is %s', (name, kind) => {
  expect(recognizeDevice({ name, memoryBytes: 40 * GIB }).name).toBe(kind);
});

test('a file with more cores than machines have, or with one device twice, is refused', () => {
  const gpu = { id: 'GPU-1', name: 'NVIDIA L4', memoryBytes: '22GiB' };
  for (const cpus of [2 ** 31, 1e15, 0, 'four']) expect(problemOf(() => readNode({ cpus, memoryBytes: 1 }))).toContain('node.json:cpus: cpus: expected a number of cores, 1 to 1024, or a list');
  expect(problemOf(() => readNode({ cpus: [0, 0], memoryBytes: 1 }))).toContain('node.json:cpus: cpus: the same device stands there twice');
  expect(problemOf(() => readNode({ cpus: 4, memoryBytes: 1, gpus: [gpu, gpu] }))).toContain('the same device stands there twice');
});

test('a slice of a GPU is as fast as its share of the memory', () => {
  const { memoryBytes, bytesPerSecond } = findDeviceKind('H100-80GB');
  expect(recognizeDevice({ name: 'NVIDIA H100 80GB HBM3', memoryBytes: memoryBytes / 2, isMig: true }).bytesPerSecond).toBe(bytesPerSecond / 2);
});

test('every kind has figures for all that times are made of', () => {
  for (const kind of DEVICE_KINDS) {
    for (const figure of [kind.memoryBytes, kind.bytesPerSecond, kind.flops.bits16, kind.flops.bits32, kind.link.bytesPerSecond, kind.loadBytesPerSecond, kind.capability]) expect(figure).toBeGreaterThan(0);
    expect(kind.flops.bits8 ?? Infinity).toBeGreaterThan(kind.flops.bits16);
  }
});
