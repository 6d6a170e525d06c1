// Facts of every model in fixtures/models against what is published of it.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { kvBytesOfSequence, kvBytesPerToken, kvElementBytes } from './kv-cache.ts';
import { parseModelFacts } from './model-facts.ts';
import { describeUnknown, findUnknownTerms } from '../plan/unknown-terms.ts';

interface Fixture {
  file: string;
  model: string;
  source: string;
  publishedParameters: number | null;
  kvBytesPerTokenBf16: number | null;
  config: Record<string, unknown>;
}

const folder = new URL('../../fixtures/models/', import.meta.url);
const fixtures = readdirSync(folder).sort().map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }) as Fixture);
const published = fixtures.filter(({ file }) => !file.startsWith('synthetic-'));
const factsOfFile = (file: string) => parseModelFacts(fixtures.find((fixture) => fixture.file === `${file}.json`)?.config, []);

test('there are sixteen published shapes, each with its source; all others are named synthetic', () => {
  expect(published).toHaveLength(16);
  for (const { source, model, config } of published) {
    expect(source).toContain(`config.json of ${model} on the Hugging Face hub`);
    expect(config).not.toEqual({});
  }
});

describe.each(published)('$model', ({ config, kvBytesPerTokenBf16 }) => {
  const facts = parseModelFacts(config, []);

  it('has KV bytes per token in bf16 to the byte, half of them in fp8', () => {
    expect(kvBytesPerToken(facts, kvElementBytes('auto', 'bfloat16'))).toBe(kvBytesPerTokenBf16);
    expect(kvBytesPerToken(facts, kvElementBytes('fp8', 'bfloat16'))).toBe((kvBytesPerTokenBf16 as number) / 2);
  });

  it('leaves nothing unknown', () => {
    expect(facts.unknown).toEqual([]);
    expect(facts.weightsFrom).toBe('shape');
  });
});

test.each(published.filter(({ publishedParameters }) => publishedParameters !== null))('$model has its $publishedParameters published parameters to the last one', ({ config, publishedParameters }) => {
  expect(parseModelFacts(config, []).parameters).toBe(publishedParameters);
});

test.each([
  // What the publishers call them: 37B, A3B, and the 12.9 billion of Mixtral's announcement.
  ['deepseek-v3', { total: 256, active: 8, intermediate: 2048, shared: 1, layers: 58 }, 37.6],
  ['qwen3-30b-a3b', { total: 128, active: 8, intermediate: 768, shared: 0, layers: 48 }, 3.4],
  ['mixtral-8x7b-v0.1', { total: 8, active: 2, intermediate: 14_336, shared: 0, layers: 32 }, 12.9],
])('%s has its experts, and a token meets only the active ones', (file, experts, activeBillions) => {
  const facts = factsOfFile(file);
  expect(facts.experts).toEqual(experts);
  expect(Math.round((facts.activeParameters ?? 0) / 1e8) / 10).toBe(activeBillions);
});

test('a dense model is active as a whole', () => {
  expect(factsOfFile('qwen3-8b').activeParameters).toBe(8_190_735_360);
});

test('one latent a layer stands for all heads of DeepSeek-V3 and is the same on every tensor rank', () => {
  const facts = factsOfFile('deepseek-v3');
  expect(facts.latentDim).toBe(576);
  expect([1, 2, 8].map((tensor) => kvBytesPerToken(facts, 2, tensor))).toEqual([70_272, 70_272, 70_272]);
});

test.each([
  ['gemma-2-9b', 21, 4096], ['gemma-3-1b', 22, 512], ['mistral-7b-v0.1', 32, 4096], ['phi-3-mini-4k', 32, 2047], ['mixtral-8x7b-v0.1', 0, undefined], ['qwen2.5-0.5b', 0, undefined],
])('%s has %i sliding layers with a window of %s tokens, and a long sequence keeps no more in them', (file, slidingLayers, slidingWindow) => {
  const facts = factsOfFile(file);
  expect([facts.slidingLayers, facts.slidingWindow]).toEqual([slidingLayers, slidingWindow]);
  const layerBytes = kvBytesPerToken(facts, 2) / facts.layers;
  const kept = (facts.layers - slidingLayers) * 8000 + slidingLayers * (slidingWindow ?? 0);
  expect(kvBytesOfSequence(facts, { tokens: 8000, elementBytes: 2 })).toBe(layerBytes * kept);
});

test.each([
  ['deepseek-v3', { method: 'fp8', bits: 8, blockShape: [128, 128] }],
  ['llama-3.1-8b-awq-int4', { method: 'awq', bits: 4, groupSize: 128 }],
  ['qwen2.5-7b-gptq-int4', { method: 'gptq', bits: 4, groupSize: 128 }],
])('%s is quantised in blocks', (file, quantization) => {
  expect(factsOfFile(file).quantization).toEqual(quantization);
});

test('without the files the weights follow from the shape: 16 bit each, or as quantised', () => {
  expect(factsOfFile('llama-3.1-70b').weightBytes).toBe(2 * 70_553_706_496);
  expect(factsOfFile('llama-3.1-70b').weightBytesByDtype).toEqual({ BF16: 2 * 70_553_706_496 });
  // 6.98e9 matrix weights of 4 bits and 20/128 bits of scale and zero point; embeddings, output layer and norms stay wide.
  const { weightBytesByDtype } = factsOfFile('llama-3.1-8b-awq-int4');
  expect(weightBytesByDtype['U8']).toBe((6_979_321_856 * (4 + 20 / 128)) / 8);
  expect(factsOfFile('deepseek-v3').weightBytes).toBeGreaterThan(671e9);
  expect(factsOfFile('deepseek-v3').weightBytes).toBeLessThan(1.01 * 671e9);
});

test('an architecture that nobody knows is planned from its weights alone, and the terms left open are named', () => {
  const fixture = fixtures.find(({ file }) => file === 'synthetic-unknown-architecture.json');
  const facts = parseModelFacts(fixture?.config, [{ w: { dtype: 'BF16', shape: [1000, 10], bytes: 20_000 } }]);
  expect(facts).toMatchObject({ parameters: 10_000, weightBytes: 20_000, weightsFrom: 'headers', isTied: true });
  expect(findUnknownTerms(facts)).toEqual([
    { term: 'KV cache', missing: ['layers', 'kvHeads', 'headDim'] },
    { term: 'activations', missing: ['hidden', 'intermediate'] },
  ]);
  expect(describeUnknown(facts)).toEqual([
    'NoSuchForCausalLM is not an architecture that is known here: its layers count as ordinary attention',
    'KV cache: not known, config.json does not give layers, kvHeads, headDim',
    'activations: not known, config.json does not give hidden, intermediate',
  ]);
});

test('layers that keep a state instead of keys and values have no part in the cache, and their state is named as unknown', () => {
  const kinds = Array.from({ length: 48 }, (_, layer) => (layer % 4 === 3 ? 'full_attention' : 'linear_attention'));
  const facts = parseModelFacts({ model_type: 'hybrid', hidden_size: 2048, num_hidden_layers: 48, num_attention_heads: 16, num_key_value_heads: 2, head_dim: 256, vocab_size: 1000, layer_types: kinds }, []);
  expect(facts.recurrentLayers).toBe(36);
  expect(kvBytesPerToken(facts, 2)).toBe(12 * 2 * 2 * 256 * 2);
  expect(findUnknownTerms(facts).find(({ term }) => term === 'KV cache')?.missing).toEqual(['recurrentState']);
});
