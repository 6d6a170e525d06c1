import { expect, test } from 'vitest';
import { CPU_CORE, findDeviceKind } from '../node/device-kinds.ts';
import { speedsOf } from './device-speeds.ts';

const gpu = { device: 'cuda', dtype: 'bfloat16', enforceEager: false, threadsPerWorker: 1 } as const;
const h100 = findDeviceKind('H100-80GB');
const flopsWith = (method: string, bits: number) =>
  speedsOf({ facts: { quantization: { method, bits } as never }, plan: gpu, kind: h100 }, 'prefill').flops;

test('only weights that are multiplied in 8 bit use the 8-bit units', () => {
  const plain = speedsOf({ facts: {}, plan: gpu, kind: h100 }, 'prefill').flops;
  expect(flopsWith('fp8', 8) / plain).toBeCloseTo(1979 / 989, 6);
  expect(flopsWith('gptq', 8)).toBe(plain);
  expect(flopsWith('compressed-tensors', 4)).toBe(plain);
});

test('32-bit weights run without the matrix units of 16 bit', () => {
  const [wide, narrow] = (['float32', 'bfloat16'] as const).map((dtype) => speedsOf({ facts: {}, plan: { ...gpu, dtype }, kind: h100 }, 'prefill').flops);
  expect(wide! / narrow!).toBeCloseTo(67 / 989, 6);
});

test('on cores answers are slower than prompts, less so when compiled, and threads add up', () => {
  const flops = (enforceEager: boolean, phase: 'prefill' | 'decode', threadsPerWorker = 1) =>
    speedsOf({ facts: {}, plan: { ...gpu, device: 'cpu', enforceEager, threadsPerWorker }, kind: CPU_CORE }, phase).flops;
  expect(flops(true, 'decode')).toBeLessThan(flops(false, 'decode'));
  expect(flops(false, 'decode')).toBeLessThan(flops(false, 'prefill'));
  expect(flops(true, 'prefill', 2)).toBe(2 * flops(true, 'prefill'));
});
