import { expect, test } from 'vitest';
import { kvBytesOfSequence, kvBytesPerToken, kvHeadsPerRank, resolveWindow } from './kv-cache.ts';
import { castWeightBytes, parseModelFacts } from './model-facts.ts';
import { DEEPSEEK_V3_CONFIG, GEMMA_2_9B_CONFIG, GEMMA_3_1B_CONFIG, LLAMA_8B_CONFIG, SMOLLM2_CONFIG, smollm2 } from './model-facts-fixture.ts';
import { headerBytesOf, parseSafetensorsHeader } from './safetensors-header.ts';

test('KV heads are replicated where there are more ranks, and then cost as much as one rank a head', () => {
  expect([1, 2, 4].map((kvHeads) => kvHeadsPerRank(kvHeads, 8))).toEqual([1, 1, 1]);
  const facts = parseModelFacts({ ...LLAMA_8B_CONFIG, num_key_value_heads: 2 }, []);
  expect(kvBytesPerToken(facts, 2, 8)).toBe(kvBytesPerToken(facts, 2, 2));
  expect(kvBytesPerToken(parseModelFacts(DEEPSEEK_V3_CONFIG, []), 2, 8)).toBe(70_272);
});

test('sliding layers keep only their window, and the plan says so for the longer request', () => {
  const gemma = parseModelFacts(GEMMA_2_9B_CONFIG, []);
  expect(gemma.slidingLayers).toBe(21);
  expect(parseModelFacts(GEMMA_3_1B_CONFIG, []).slidingLayers).toBe(22);
  expect(kvBytesOfSequence(gemma, { tokens: 8192, elementBytes: 2 })).toBe((344_064 / 42) * 21 * (8192 + 4096));
  expect(resolveWindow(gemma, undefined, 4000)).toEqual({ window: 8192 });
  expect(resolveWindow(gemma, undefined, 6000)).toEqual({ window: 8192, warning: '21 of 42 layers see only the last 4096 tokens; the longest request has 6000' });
  const all = parseModelFacts({ ...LLAMA_8B_CONFIG, max_position_embeddings: 8192, sliding_window: 4096 }, []);
  expect(all.slidingLayers).toBe(32);
  expect(resolveWindow(all, undefined, 6000).warning).toContain('32 of 32 layers');
  expect(parseModelFacts({ ...LLAMA_8B_CONFIG, sliding_window: 4096, use_sliding_window: false }, []).slidingWindow).toBeUndefined();
});

test('weights are counted once by name and cast to the type of the run', () => {
  const tensor = { dtype: 'F32', shape: [3, 4], bytes: 48 };
  const scales = { dtype: 'I32', shape: [5], bytes: 20 };
  const facts = parseModelFacts(SMOLLM2_CONFIG, [{ a: tensor }, { a: tensor, b: scales }]);
  expect(facts.parameters).toBe(17);
  expect(facts.weightBytesByDtype).toEqual({ F32: 48, I32: 20 });
  expect(castWeightBytes(facts, 2)).toBe(24 + 20);
  expect(castWeightBytes(smollm2, 4)).toBe(134_515_008 * 4);
});

test('what is missing is named', () => {
  expect(parseModelFacts({ model_type: 'llama', hidden_size: 8 }, []).unknown).toEqual(['layers', 'heads', 'kvHeads', 'headDim', 'vocab', 'weights']);
  expect(parseModelFacts({ model_type: 'new' }, []).unknown).toEqual(['layers', 'heads', 'kvHeads', 'headDim', 'hidden', 'intermediate', 'vocab', 'architecture', 'weights']);
});

test('a language model inside a model of several modalities is found', () => {
  expect(parseModelFacts({ architectures: ['Gemma3ForConditionalGeneration'], text_config: GEMMA_3_1B_CONFIG }, [])).toMatchObject({
    architecture: 'Gemma3ForConditionalGeneration', layers: 26, heads: 4, weightsFrom: 'nothing', unknown: ['weights'],
  });
});

function buildFile(header: unknown, dataBytes: number): { start: Uint8Array; source: { file: string; fileBytes: number } } {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return { start: Buffer.concat([length, json]), source: { file: 'model.safetensors', fileBytes: 8 + json.length + dataBytes } };
}

test('a safetensors header gives every tensor its bytes', () => {
  const { start, source } = buildFile({ __metadata__: { format: 'pt' }, w: { dtype: 'BF16', shape: [2, 3], data_offsets: [0, 12] } }, 12);
  expect(headerBytesOf(start.subarray(0, 8), source)).toBe(start.length);
  expect(parseSafetensorsHeader(start, source)).toEqual({ w: { dtype: 'BF16', shape: [2, 3], bytes: 12 } });
});

test.each([
  ['cut off', buildFile({ w: { dtype: 'F32', shape: [4], data_offsets: [0, 16] } }, 10), /model.safetensors.*bytes where its header describes/],
  ['not JSON', buildFile('{"w": ', 4), /its header is not JSON/],
  ['no offsets', buildFile({ w: { dtype: 'F32', shape: [4] } }, 4), /tensor w has no dtype/],
  ['empty', { start: new Uint8Array(), source: { file: 'model.safetensors', fileBytes: 0 } }, /only 0 bytes long/],
  ['another format', { start: Buffer.from('PK-archive-of-something'), source: { file: 'model.safetensors', fileBytes: 23 } }, /its header claims/],
])('a safetensors file that is %s is named and refused', (_, { start, source }, message) => {
  expect(() => parseSafetensorsHeader(start, source)).toThrow(message);
});
