import { expect, test } from 'vitest';
import { communicate, offloadSeconds } from './link-time.ts';

const facts = { hidden: 1000, layers: 10 };
const kind = { link: { name: 'PCIe', bytesPerSecond: 1e9, latencySeconds: 0 }, loadBytesPerSecond: 1e9 } as const;
const timeOf = (tensor: number, pipeline: number, latencySeconds = 0) =>
  communicate({ facts, plan: { tensor, pipeline, dtype: 'bfloat16' }, kind: { link: { ...kind.link, latencySeconds } } }, { tokens: 1000, steps: 4 });

test('one rank sends nothing', () => {
  expect(timeOf(1, 1, 1)).toBe(0);
});

test('tensor ranks send 2 (t - 1) / t of each layer\'s two sums, and wait for each sum of each step', () => {
  const sumSeconds = 1000 * 1000 * 2 / 1e9;
  expect(timeOf(2, 1)).toBeCloseTo(20 * sumSeconds, 9);
  expect(timeOf(4, 1)).toBeCloseTo(20 * 1.5 * sumSeconds, 9);
  expect(timeOf(2, 1, 1e-3) - timeOf(2, 1)).toBeCloseTo(20 * 4 * 1e-3, 9);
});

test('stages hand on each token once', () => {
  expect(timeOf(1, 2)).toBeCloseTo(1000 * 1000 * 2 / 1e9, 9);
});

test('weights that the host keeps cross its bus in every step', () => {
  expect(offloadSeconds({ plan: { cpuOffloadBytes: 2e9 }, kind }, 3)).toBe(6);
  expect(offloadSeconds({ plan: {}, kind }, 3)).toBe(0);
});
