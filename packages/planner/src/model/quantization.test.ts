import { expect, test } from 'vitest';
import { parseModelFacts } from './model-facts.ts';
import { parseQuantization, storedBits } from './quantization.ts';

test.each([
  ['GPTQ', { quant_method: 'gptq', bits: 4, group_size: 128, desc_act: false }, { method: 'gptq', bits: 4, groupSize: 128 }],
  ['GPTQ with one scale a column', { quant_method: 'gptq', bits: 8, group_size: -1 }, { method: 'gptq', bits: 8 }],
  ['AWQ', { quant_method: 'awq', bits: 4, group_size: 64, version: 'gemm' }, { method: 'awq', bits: 4, groupSize: 64 }],
  ['AWQ as its own tool writes it', { quant_method: 'awq', w_bit: 4, q_group_size: 128 }, { method: 'awq', bits: 4, groupSize: 128 }],
  ['fp8 with one scale a tensor', { quant_method: 'fp8', activation_scheme: 'static' }, { method: 'fp8', bits: 8 }],
  ['fp8 in blocks', { quant_method: 'fp8', weight_block_size: [128, 128] }, { method: 'fp8', bits: 8, blockShape: [128, 128] }],
  ['compressed-tensors in groups', { quant_method: 'compressed-tensors', config_groups: { group_0: { targets: ['Linear'], weights: { num_bits: 4, type: 'int', group_size: 128, strategy: 'group' } } } }, { method: 'compressed-tensors', bits: 4, groupSize: 128 }],
  ['compressed-tensors in blocks', { quant_method: 'compressed-tensors', config_groups: { group_0: { weights: { num_bits: 8, type: 'float', strategy: 'block', block_structure: '128x128' } } } }, { method: 'compressed-tensors', bits: 8, blockShape: [128, 128] }],
  ['compressed-tensors of two widths', { quant_method: 'compressed-tensors', config_groups: { a: { weights: { num_bits: 4, group_size: 128 } }, b: { weights: { num_bits: 8, group_size: null } } } }, { method: 'compressed-tensors', bits: 8 }],
  ['bitsandbytes in 4 bit', { quant_method: 'bitsandbytes', load_in_4bit: true, bnb_4bit_quant_type: 'nf4' }, { method: 'bitsandbytes', bits: 4, flatBlock: 64 }],
  ['bitsandbytes in 8 bit', { quant_method: 'bitsandbytes', _load_in_8bit: true, load_in_4bit: false }, { method: 'bitsandbytes', bits: 8 }],
  ['MXFP4', { quant_method: 'mxfp4', modules_to_not_convert: [] }, { method: 'mxfp4', bits: 4, groupSize: 32 }],
  ['a method of tomorrow', { quant_method: 'new', group_size: 'many' }, { method: 'new' }],
])('%s is read with its block', (_, source, quantization) => {
  expect(parseQuantization(source)).toEqual(quantization);
});

test('a weight takes its bits and its share of the scales', () => {
  expect(storedBits({ method: 'awq', bits: 4, groupSize: 128 })).toBe(4.15625);
  expect(storedBits({ method: 'fp8', bits: 8, blockShape: [128, 128] })).toBe(8 + 32 / 16_384);
  expect(storedBits({ method: 'bitsandbytes', bits: 4, flatBlock: 64 })).toBe(4.5);
  expect(storedBits({ method: 'fp8', bits: 8 })).toBe(8);
  expect(storedBits({ method: 'new' })).toBeUndefined();
});

const tensor = (dtype: string, shape: number[], elementBytes: number) => ({ dtype, shape, bytes: shape.reduce((a, b) => a * b, elementBytes) });
const shape = { model_type: 'llama', vocab_size: 10 };

test.each([
  ['GPTQ', { quant_method: 'gptq', bits: 4, group_size: 128 }, {
    'l.qweight': tensor('I32', [32, 512], 4), 'l.qzeros': tensor('I32', [2, 64], 4), 'l.scales': tensor('F16', [2, 512], 2), 'l.g_idx': tensor('I32', [256], 4), 'n.weight': tensor('F16', [256], 2),
  }, 256 * 512 + 256],
  ['compressed-tensors', { quant_method: 'compressed-tensors', config_groups: { a: { weights: { num_bits: 4, group_size: 128 } } } }, {
    'l.weight_packed': tensor('I32', [512, 32], 4), 'l.weight_scale': tensor('BF16', [512, 2], 2), 'l.weight_shape': tensor('I64', [2], 8), 'n.weight': tensor('BF16', [256], 2),
  }, 256 * 512 + 256],
  ['fp8 in blocks', { quant_method: 'fp8', weight_block_size: [128, 128] }, { 'l.weight': tensor('F8_E4M3', [512, 256], 1), 'l.weight_scale_inv': tensor('F32', [4, 2], 4) }, 512 * 256],
  ['bitsandbytes', { quant_method: 'bitsandbytes', load_in_4bit: true }, {
    'l.weight': tensor('U8', [65_536, 1], 1), 'l.weight.absmax': tensor('U8', [2048], 1), 'l.weight.quant_map': tensor('F32', [16], 4), 'l.weight.quant_state.bitsandbytes__nf4': tensor('U8', [80], 1),
  }, 131_072],
])('packed weights of %s are counted one by one, scales only as bytes', (_, quantization, header, parameters) => {
  const facts = parseModelFacts({ ...shape, quantization_config: quantization }, [header]);
  expect(facts.parameters).toBe(parameters);
  expect(facts.weightBytes).toBe(Object.values(header).reduce((sum, { bytes }) => sum + bytes, 0));
});

test('layers that only predict further tokens stay on disk', () => {
  const header = { 'model.layers.1.w': tensor('BF16', [8], 2), 'model.layers.2.w': tensor('BF16', [100], 2) };
  expect(parseModelFacts({ ...shape, num_hidden_layers: 2, num_nextn_predict_layers: 1 }, [header]).parameters).toBe(8);
  expect(parseModelFacts({ ...shape, num_hidden_layers: 2 }, [header]).parameters).toBe(108);
});
