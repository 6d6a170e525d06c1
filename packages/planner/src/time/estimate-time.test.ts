import { expect, test } from 'vitest';
import { explain, llama70b, mistral7b } from '../plan/candidates-fixture.ts';
import { CPU_CORE, findDeviceKind } from '../node/device-kinds.ts';
import { estimateTime } from './estimate-time.ts';
import { factsOf, LLAMA_8B_CONFIG, smollm2 } from '../model/model-facts-fixture.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

const llama8b = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
const prompts = buildIndex(Array.from({ length: 200 }, () => ({ kind: 'loglikelihood' as const, context: 512 })));
const answers = (requests: number) => buildIndex(Array.from({ length: requests }, () => ({ context: 64, budget: 64 })));

function timeOf(devices: string, change: Parameters<typeof explain>[1], corrections = {}) {
  const { plan } = explain(devices, change);
  return { plan: plan!, ...estimateTime({ facts: plan!.facts, plan: plan!, kind: devices.startsWith('cpu') ? CPU_CORE : findDeviceKind(devices.split('x')[1]!), corrections }) };
}

test('on the machine that was measured, prompts and answers run at about the measured rates', () => {
  const scored = timeOf('cpu:2:16GiB', { facts: smollm2, index: buildIndex(Array.from({ length: 200 }, () => ({ context: 512, budget: 1 }))) });
  const tokensPerSecond = (200 * 512) / scored.prefillSeconds;
  expect(tokensPerSecond).toBeGreaterThan(2850 * 0.7);
  expect(tokensPerSecond).toBeLessThan(2850 * 1.4);
  const decoding = timeOf('cpu:2:16GiB', { facts: smollm2, index: answers(64), modelArgs: { enforce_eager: true } });
  expect((64 * 64) / decoding.decodeSeconds).toBeGreaterThan(830 * 0.7);
  expect((64 * 64) / decoding.decodeSeconds).toBeLessThan(830 * 1.4);
});

test('8B on an H100 scores at the 30 to 40 thousand prompt tokens a second that are reported', () => {
  const { prefillSeconds, bound } = timeOf('1xH100-80GB', { facts: llama8b, index: buildIndex(Array.from({ length: 4000 }, () => ({ context: 512, budget: 1 }))) });
  const tokensPerSecond = (4000 * 512) / prefillSeconds;
  expect(tokensPerSecond).toBeGreaterThan(27_000);
  expect(tokensPerSecond).toBeLessThan(42_000);
  expect(bound.prefill).toBe('compute');
});

test('decoding few sequences is bound by reading the weights, and more sequences cost little more', () => {
  const [one, many] = [1, 64].map((requests) => timeOf('1xH100-80GB', { facts: llama8b, index: answers(requests) }));
  expect(one!.bound.decode).toBe('memory');
  const weightSeconds = (64 * 16.06e9) / (3350e9 * 0.7);
  expect(one!.decodeSeconds).toBeGreaterThan(weightSeconds);
  expect(many!.decodeSeconds).toBeLessThan(2 * one!.decodeSeconds);
});

test('devices divide the time, and device-hours count every one that is held, on CPU each core', () => {
  const [one, four] = ['1xH100-80GB', '4xH100-80GB'].map((devices) => timeOf(devices, { facts: mistral7b }));
  expect(one!.prefillSeconds / four!.prefillSeconds).toBeCloseTo(4, 0);
  expect(four!.deviceHours).toBeCloseTo((4 * four!.wallSeconds) / 3600, 6);
  const cores = timeOf('cpu:2:64GiB', { facts: mistral7b });
  expect(cores.deviceHours).toBeCloseTo((2 * cores.wallSeconds) / 3600, 6);
});

test('tensor ranks pay for their sums, more over PCIe than over NVLink', () => {
  const split = { facts: mistral7b, plan: { tensor: 2, pipeline: 1, data: 1 }, index: prompts };
  const [nvlink, pcie] = ['2xH100-80GB', '2xH100-PCIe-80GB'].map((devices) => timeOf(devices, split).communicationSeconds);
  expect(nvlink).toBeGreaterThan(0);
  expect(pcie).toBeGreaterThan(4 * nvlink!);
  expect(timeOf('2xH100-80GB', { facts: mistral7b, index: prompts }).communicationSeconds).toBe(0);
});

test('few experts are read by few tokens, all of them by many', () => {
  const experts = { total: 8, active: 2, intermediate: 14336, shared: 0, layers: 32 };
  const dense = timeOf('1xH200-141GB', { facts: llama70b, index: answers(1), modelArgs: { quantization: 'fp8' } });
  const sparse = timeOf('1xH200-141GB', { facts: { ...llama70b, experts, activeParameters: 20e9 }, index: answers(1), modelArgs: { quantization: 'fp8' } });
  expect(sparse.decodeSeconds).toBeLessThan(0.5 * dense.decodeSeconds);
});

test('a factor measured before corrects its part and no other', () => {
  const raw = timeOf('1xH100-80GB', { facts: llama8b });
  const corrected = timeOf('1xH100-80GB', { facts: llama8b }, { prefill: 2, load: 0.5 });
  expect(corrected.prefillSeconds).toBeCloseTo(2 * raw.prefillSeconds, 6);
  expect(corrected.loadSeconds).toBeCloseTo(raw.loadSeconds / 2, 6);
  expect(corrected.decodeSeconds).toBe(raw.decodeSeconds);
  expect(corrected.wallSeconds).toBeCloseTo(raw.startSeconds + corrected.loadSeconds + corrected.prefillSeconds + raw.decodeSeconds, 6);
});
