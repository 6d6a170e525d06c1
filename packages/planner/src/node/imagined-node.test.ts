import { type AssayError, GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { describeDevices } from './device-kinds.ts';
import { imagineNode } from './imagined-node.ts';

const problemOf = (text: string) => {
  try {
    imagineNode(text);
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
  ['H100-80', 'did you mean 1xH100-80GB?'],
  ['H100', 'did you mean 1xH100-80GB or 1xH100-PCIe-80GB?'],
  ['2xh100', 'did you mean H100-80GB or H100-PCIe-80GB?'],
  ['many', 'expected such as 8xH100-80GB, cpu:16'],
  ['cpu:4:lots', 'command line: --devices: "lots" for the memory of 4 cores: expected a size above 0 such as 80GB or 64GiB'],
  ['cpu:4:0', 'command line: --devices: "0" for the memory of 4 cores: expected a size above 0'],
  ['cpu:4:99999999999GiB', 'command line: --devices: "99999999999GiB" for the memory'],
])('%s is refused: %s', (text, problem) => {
  expect(problemOf(text)).toContain(problem);
});
