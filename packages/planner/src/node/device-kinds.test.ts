import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEVICE_KINDS, findDeviceKind, recognizeDevice } from './device-kinds.ts';

const page = readFileSync(new URL('../../../../docs/planning.md', import.meta.url), 'utf8');
const number = (cell: string | undefined) => Number(cell?.replaceAll(',', ''));

test('docs/planning.md has the figures of every kind, and of no other', () => {
  const rows = page.slice(page.indexOf('## Device kinds')).split('\n').filter((line) => /^\| `\w[\w-]+` \|/.test(line)).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
  expect(rows.map(([name]) => name?.replaceAll('`', ''))).toEqual(DEVICE_KINDS.map(({ name }) => name));
  for (const [place, [, mib, gib, gigabytes, bits16, bits8, link]] of rows.entries()) {
    const kind = DEVICE_KINDS[place]!;
    expect(number(mib) * 2 ** 20).toBe(kind.memoryBytes);
    expect(number(gib)).toBeCloseTo(kind.memoryBytes / 2 ** 30, 0);
    expect(number(gigabytes)).toBeCloseTo(kind.bytesPerSecond / 1e9, 6);
    expect(number(bits16)).toBeCloseTo(kind.flops.bits16 / 1e12, 6);
    expect(bits8 === 'none' ? undefined : number(bits8)).toBe(kind.flops.bits8 && Math.round(kind.flops.bits8 / 1e11) / 10);
    const inLink = number(link?.replace(/^PCIe \d, |^NVLink /, ''));
    expect(link).toContain(kind.link.name);
    expect(inLink * (kind.link.name === 'NVLink' ? 0.5 : 1)).toBeCloseTo(kind.link.bytesPerSecond / 1e9, 6);
  }
});

test.each([
  ['NVIDIA H100 80GB HBM3', 'H100-80GB'], ['NVIDIA H100 PCIe', 'H100-PCIe-80GB'], ['NVIDIA H200', 'H200-141GB'], ['NVIDIA A100-SXM4-80GB', 'A100-80GB'], ['NVIDIA A100-PCIE-40GB', 'A100-40GB'],
  ['NVIDIA L4', 'L4'], ['NVIDIA L40S', 'L40S'], ['NVIDIA GeForce RTX 4090', 'RTX4090'], ['NVIDIA GeForce RTX 3090', 'RTX3090'], ['Tesla V100-SXM2-16GB', 'V100-16GB'], ['Tesla V100-SXM2-32GB', 'V100-32GB'],
  ['NVIDIA A10G', 'A10G'], ['Tesla T4', 'T4'], ['NVIDIA B200', 'B200'], ['Something New', 'unknown'],
])('the driver\'s %s is %s', (name, kind) => {
  expect(recognizeDevice({ name, memoryBytes: 40 * 2 ** 30 }).name).toBe(kind);
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
