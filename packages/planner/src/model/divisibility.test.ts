import { expect, test } from 'vitest';
import type { AssayError } from '@assay/domain';
import { allowedTensorSizes, padVocab, refuseTensor, refuseUnlessBlockFits, requireDivisible, type ShapeFacts } from './divisibility.ts';
import { DEEPSEEK_V3_CONFIG, QWEN_GPTQ_CONFIG, smollm2 } from './model-facts-fixture.ts';
import { parseModelFacts } from './model-facts.ts';

const shape = (fields: Partial<ShapeFacts>): ShapeFacts => ({ heads: 0, kvHeads: 0, hidden: 0, intermediate: 0, vocab: 0, layers: 0, ...fields });

test.each([
  [14, [1, 2, 7]], [28, [1, 2, 4, 7]], [12, [1, 2, 3, 4, 6]], [52, [1, 2, 4]], [40, [1, 2, 4, 5, 8]], [25, [1, 5]],
])('%i heads allow the tensor sizes %j on up to eight GPUs', (heads, allowed) => {
  expect(allowedTensorSizes(shape({ heads }), 8)).toEqual(allowed);
});

test('KV heads cut the list further', () => {
  expect(allowedTensorSizes(shape({ heads: 14, kvHeads: 2 }), 8)).toEqual([1, 2]);
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

test.each([
  ['experts, in the smaller inner size they have', { experts: { total: 128, active: 8, intermediate: 768, shared: 0, layers: 48 }, intermediate: 6144 }, 4, 'size of an expert 768/4 = 192'],
  ['keys and values', { kvHeads: 8, headDim: 64 }, 8, 'key and value size 512/8 = 64'],
  ['the output of attention', { headDim: 80, kvHeads: 32 }, 32, 'attention output 2560/32 = 80'],
])('a block that cuts %s refuses the size', (_, fields, tensor, problem) => {
  expect(refuseTensor(shape({ heads: 32, quantization: { method: 'fp8', blockShape: [128, 128] }, ...fields }), tensor)).toBe(`${problem} is not a multiple of the quantisation block of 128`);
});

test('groups lie along the input only, so keys and values need no whole one', () => {
  const grouped = shape({ heads: 32, kvHeads: 8, headDim: 64, intermediate: 8192, quantization: { method: 'awq', bits: 4, groupSize: 128 } });
  expect(allowedTensorSizes(grouped, 8)).toEqual([1, 2, 4, 8]);
});

test.each([['deepseek-v3', DEEPSEEK_V3_CONFIG, [1, 2, 4, 8, 16]], ['the GPTQ model', QWEN_GPTQ_CONFIG, [1, 2, 4]]])('%s takes only the sizes that leave its blocks whole', (_, config, sizes) => {
  expect(allowedTensorSizes(parseModelFacts(config, []), 32)).toEqual(sizes);
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

test.each([
  ['a size of pipeline stages', smollm2, { tensor: 1, pipeline: 31 }, 'Valid by its 30 layers: pipeline=1 to 30.'],
  ['a group that is cut', parseModelFacts(QWEN_GPTQ_CONFIG, []), { tensor: 7, pipeline: 1 }, 'Valid by its 28 heads: tensor=1, 2, 4, 7, 14, 28; its other dimensions leave 1, 2, 4.'],
  ['a block that is cut', shape({ heads: 32, kvHeads: 32, intermediate: 768, quantization: { method: 'fp8', blockShape: [128, 128] } }), { tensor: 4, pipeline: 1 }, 'Valid by its 32 heads: tensor=1, 2, 4, 8, 16, 32; its other dimensions leave 1, 2.'],
] as const)('%s is refused with all that are valid', (_, facts, sizes, remedy) => {
  expect(() => requireDivisible(facts, sizes)).toThrow(expect.objectContaining({ code: 'PLAN_IMPOSSIBLE', remedy }));
});
