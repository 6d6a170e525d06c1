// The guide's memory table and what it says of cards, as this planner has them. GB is 10^9 bytes, GiB 2^30.
import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { explain, layoutOf, llama70b, mistral7b } from '../plan/candidates-fixture.ts';
import { DEVICE_KINDS, findDeviceKind } from '../node/device-kinds.ts';
import { estimateMemory, type MemoryPlan } from './memory.ts';
import { sequencesHeld } from '../plan.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

const GB = 1e9;

const rank: MemoryPlan = {
  device: 'cuda', tensor: 1, pipeline: 1, maxNumSeqs: 1, maxNumBatchedTokens: 1024, kvCacheBytes: GIB, kvElementBytes: 2, enforceEager: true, threadsPerWorker: 1, dtype: 'bfloat16',
};

function ruleOfThumb(billions: number, change: { dtype?: 'float32'; bits?: number }): number {
  const { bits, ...plan } = change;
  const facts = { ...llama70b, parameters: billions * 1e9, ...(bits === undefined ? {} : { quantization: { method: 'gptq', bits } }) };
  return estimateMemory({ facts, plan: { ...rank, ...plan }, workload: { longestTokens: 100, longestScoredTokens: 0 }, kind: 'device' }).ruleOfThumbBytes;
}

test.each([
  [7, 30.8, 15.4, 7.7, 3.9],
  [70, 308, 154, 77, 38.5],
])('the rule of thumb for %i G parameters is the guide\'s row, in GB', (billions, ...row) => {
  const computed = [{ dtype: 'float32' as const }, {}, { bits: 8 }, { bits: 4 }].map((change) => ruleOfThumb(billions, change) / GB);
  computed.forEach((gigabytes, place) => expect(Math.abs(gigabytes - row[place]!)).toBeLessThanOrEqual(0.051));
});

test('the same bytes are fewer GiB than GB: 154 GB are 143.4 GiB, and an "80 GB" card has 79.6 or 80 GiB', () => {
  expect((ruleOfThumb(70, {}) / GIB).toFixed(1)).toBe('143.4');
  expect(['H100-80GB', 'A100-80GB'].map((name) => (findDeviceKind(name).memoryBytes / GIB).toFixed(1))).toEqual(['79.6', '80.0']);
  for (const { memoryBytes } of DEVICE_KINDS) expect(Number.isInteger(memoryBytes / 2 ** 20)).toBe(true);
});

test('70B in 16 bit does not fit one 80 GB card, and what would is said', () => {
  for (const devices of ['1xH100-80GB', '1xA100-80GB']) {
    const { plan, candidates, refusal } = explain(devices);
    expect(plan).toBeUndefined();
    expect(candidates[0]?.lost).toMatch(/^does not fit: the weights take 131\.4 GiB of the 7\d\.\d GiB of each rank, .* are missing\.$/);
    expect(refusal).toMatchObject({ code: 'PLAN_IMPOSSIBLE' });
    expect(refusal?.remedy).toMatch(/GiB are missing\. It would fit with twice as many such devices, or in 8 bit/);
  }
});

test('70B fits one 80 GB card barely in 8 bit, well in 4 bit, and in 16 bit on two cards', () => {
  const eightBit = explain('1xH100-80GB', { modelArgs: { quantization: 'fp8' } }).plan!;
  const fourBit = explain('1xH100-80GB', { modelArgs: { quantization: 'bitsandbytes' } }).plan!;
  // Barely: a handful of the longest requests at a time, with the step shrunk to make room for them.
  expect(sequencesHeld(eightBit)).toBeLessThan(8);
  expect(eightBit.maxNumBatchedTokens).toBeLessThan(16384);
  expect(sequencesHeld(fourBit)).toBeGreaterThan(40);
  expect(fourBit.maxNumBatchedTokens).toBe(16384);
  expect(layoutOf(explain('2xH100-80GB'))).toBe('1×2×1');
});

test('7B in 16 bit on a 16 GB card: the rule of thumb says yes, scoring contexts of 8k says no', () => {
  const index = buildIndex([{ kind: 'loglikelihood', context: 8000, continuation: 4 }]);
  const { plan, candidates } = explain('1xV100-16GB', { facts: mistral7b, index, modelArgs: { dtype: 'float16', max_model_len: 8192 } });
  const { memory } = candidates[0]!;
  expect(memory!.ruleOfThumbBytes).toBeLessThan(16 * GB);
  expect(memory!.ruleOfThumbBytes).toBeLessThan(findDeviceKind('V100-16GB').memoryBytes);
  expect(plan).toBeUndefined();
  expect(candidates[0]!.lost).toContain('does not fit');
  expect(layoutOf(explain('1xL4', { facts: mistral7b, index, modelArgs: { max_model_len: 8192 } }))).toBe('1×1×1');
});
