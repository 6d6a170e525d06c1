import { expect, test } from 'vitest';
import type { AssayError } from '@assay/domain';
import { allowedTensorSizes, layOut, padVocab, refuseTensor, refuseUnlessBlockFits, requireDivisible, type ShapeFacts } from './divisibility.ts';
import { smollm2 } from './model-facts-fixture.ts';

const shape = (fields: Partial<ShapeFacts>): ShapeFacts => ({ heads: 0, kvHeads: 0, hidden: 0, intermediate: 0, vocab: 0, layers: 0, ...fields });

test.each([
  [14, [1, 2, 7]], [28, [1, 2, 4, 7]], [12, [1, 2, 3, 4, 6]], [52, [1, 2, 4]], [40, [1, 2, 4, 5, 8]], [25, [1, 5]],
])('%i heads allow the tensor sizes %j on up to eight GPUs', (heads, allowed) => {
  expect(allowedTensorSizes(shape({ heads }), 8)).toEqual(allowed);
});

test('KV heads cut the list further, and replicas fill the devices', () => {
  expect(allowedTensorSizes(shape({ heads: 14, kvHeads: 2 }), 8)).toEqual([1, 2]);
  expect(layOut(shape({ heads: 14 }), 8, 2)).toEqual({ data: 4, tensor: 2, pipeline: 1, spare: 0 });
});

test.each([
  [3, { data: 1, tensor: 2, pipeline: 1, spare: 1 }], [5, { data: 2, tensor: 2, pipeline: 1, spare: 1 }],
  [6, { data: 3, tensor: 2, pipeline: 1, spare: 0 }], [7, { data: 3, tensor: 2, pipeline: 1, spare: 1 }],
])('32 heads on %i GPUs are never cut in three', (devices, layout) => {
  expect(layOut(shape({ heads: 32, kvHeads: 16 }), devices, 2)).toEqual(layout);
});

test('where no tensor size suffices, whole layers are laid on the devices', () => {
  expect(layOut(shape({ heads: 32, kvHeads: 16 }), 3, 3)).toEqual({ data: 1, tensor: 1, pipeline: 3, spare: 0 });
  expect(layOut(shape({ heads: 32, kvHeads: 16 }), 2, 3)).toBeUndefined();
});

test('KV heads are divided or replicated, or the size is refused', () => {
  const refused = (kvHeads: number, tensor: number) => refuseTensor(shape({ heads: 240, kvHeads }), tensor) !== undefined;
  expect([1, 2, 4, 10].map((kvHeads) => refused(kvHeads, 8))).toEqual([false, false, false, true]);
  expect(refused(4, 6)).toBe(true);
});

test.each([
  [18432, 32, false], [768, 4, false], [3072, 16, false], [2 * 320, 8, false], [512, 8, false], [3072, 8, true],
])('a block of 128 and %i/%i: fits %s', (size, tensor, fits) => {
  expect(refuseUnlessBlockFits('size', size, tensor, 128) === undefined).toBe(fits);
});

test('quantised weights drop the tensor sizes that cut a block', () => {
  const quantized = shape({ heads: 32, kvHeads: 32, intermediate: 768, quantization: { method: 'fp8', blockShape: [128, 128] } });
  expect(allowedTensorSizes(quantized, 8)).toEqual([1, 2]);
  expect(refuseTensor(quantized, 4)).toBe('intermediate size 768/4 = 192 is not a multiple of the quantisation block of 128');
});

test('the vocabulary is padded to 64 rows before it is cut', () => {
  expect(padVocab(50257)).toBe(50304);
  expect(refuseTensor(shape({ vocab: 50257 }), 2)).toBeUndefined();
  expect(refuseTensor(shape({ vocab: 50257 }), 5)).toBe('padded vocabulary (50304) cannot be divided by 5');
});

test('two tensor ranks for nine heads are refused with the sizes that work', () => {
  expect(() => requireDivisible(smollm2, { tensor: 2, pipeline: 1 })).toThrow('tensor=2: attention heads (9) cannot be divided by 2');
  try {
    requireDivisible(smollm2, { tensor: 2, pipeline: 1 });
    expect.unreachable();
  } catch (error) {
    expect((error as AssayError).code).toBe('PLAN_IMPOSSIBLE');
    expect({ remedy: (error as AssayError).remedy }).toEqual({ remedy: 'Valid by its 9 heads: tensor=1, 3, 9; its other dimensions leave 1, 3.' });
  }
  expect(() => requireDivisible(smollm2, { tensor: 3, pipeline: 2 })).not.toThrow();
  expect(() => requireDivisible(smollm2, { tensor: 1, pipeline: 31 })).toThrow('the model has 30 layers');
});
