// With the numbers of a real first run of the demo: two CPU cores, 135 M parameters, bfloat16, eager.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REQUEST_KINDS } from '@assay/domain';
import { explain } from '../plan/candidates-fixture.ts';
import { smollm2 } from '../model/model-facts-fixture.ts';
import { imagineNode } from '../node/imagined-node.ts';
import type { PlanInput } from '../plan/plan-draft.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';
import { fitCorrections, observeTime, pickRates } from './time-corrections.ts';

const { requests } = JSON.parse(readFileSync(new URL('../progress/remaining-trace-fixture.json', import.meta.url), 'utf8')) as { requests: [number, number, number, number, number][] };
const index = buildIndex(requests.map(([task, kind, context, continuation, budget]) => ({ task, kind: REQUEST_KINDS[kind]!, context, continuation, budget })));
const measured = {
  rates: { request: 0.0012567, scored: 0.00046149, prefill: 0.00024253, decode: 0.0018509, attention: 4.0422e-7 },
  phaseSeconds: 36.9, startSeconds: 7.06, loadSeconds: 3.79,
};

function plan(change: Partial<PlanInput> = {}) {
  const { plan: chosen, candidates } = explain('cpu:2:16GiB', { facts: smollm2, index, maxModelLen: 4096, ...change });
  return { plan: chosen!, time: candidates.find(({ isChosen }) => isChosen)!.time! };
}

/** As the run counted it: 856 tokens were made of the budgets' 2,560. */
function observe(slowdown = 1) {
  const { plan: first } = plan();
  const { longestTokens, longestScoredTokens, ...planned } = first.workload;
  const share = 856 / planned.newTokens;
  const done = { ...planned, newTokens: 856, decodePairs: planned.decodePairs * share };
  const rates = Object.fromEntries(Object.entries(measured.rates).map(([unit, seconds]) => [unit, seconds * slowdown])) as typeof measured.rates;
  return observeTime(first, imagineNode('cpu:2:16GiB'), { done, rates, phaseSeconds: measured.phaseSeconds * slowdown, startSeconds: measured.startSeconds, loadSeconds: measured.loadSeconds });
}

// Mean lengths of the three tasks that write: 856 tokens by 160 answers.
const meanTokens = (task: number) => [undefined, undefined, 3, 4, 8.6][task];

test('a second plan of the same settings predicts closer than the first did, each part of it', () => {
  const [before, after] = [plan().time, plan({ correctionsOf: () => fitCorrections([observe()]), expectedNewTokens: meanTokens }).time];
  const { startSeconds, loadSeconds, phaseSeconds } = measured;
  const seen = observe();
  const [prefillSeconds, decodeSeconds] = [seen.prefill!.measuredSeconds, seen.decode!.measuredSeconds];
  expect(prefillSeconds + decodeSeconds).toBeCloseTo(phaseSeconds);
  const shown = { startSeconds, loadSeconds, prefillSeconds, decodeSeconds, wallSeconds: startSeconds + loadSeconds + phaseSeconds };
  for (const part of ['startSeconds', 'loadSeconds', 'prefillSeconds', 'decodeSeconds', 'wallSeconds'] as const) {
    const [was, is] = [before, after].map((time) => Math.abs(time[part] / shown[part] - 1));
    expect(is).toBeLessThan(was!);
    expect(is).toBeLessThan(0.05);
  }
  expect([before.correctedBy, after.correctedBy]).toEqual([0, 1]);
  expect(after.deviceHours).toBeCloseTo((2 * after.wallSeconds) / 3600);
});

test('what earlier runs have shown changes the shown times and nothing of the plan', () => {
  const [before, after] = [plan(), plan({ correctionsOf: () => ({ prefill: 9, decode: 0.1, runs: 2 }), expectedNewTokens: () => 1 })];
  expect(after.plan).toEqual(before.plan);
  expect(after.time.fullLoadSeconds).toBe(before.time.fullLoadSeconds);
  expect(after.time.prefillSeconds).toBeCloseTo(9 * before.time.prefillSeconds);
});

test('of several runs the middle one counts, the lower of two, so that one under load moves nothing', () => {
  const quiet = fitCorrections([observe()])!;
  for (const runs of [[observe(), observe(3)], [observe(3), observe(), observe(1.01)]]) {
    const { prefill, decode } = fitCorrections(runs)!;
    expect(prefill! / quiet.prefill!).toBeLessThan(1.02);
    expect(decode! / quiet.decode!).toBeLessThan(1.02);
  }
  const slow = { ...measured.rates, prefill: 1, scored: 1 };
  expect(pickRates([slow, measured.rates], plan().plan.workload)).toBe(measured.rates);
  expect(pickRates([], plan().plan.workload)).toBeUndefined();
  expect(fitCorrections([])).toBeUndefined();
});

test('many tiny runs do not outvote a large one', () => {
  const tiny = { prefill: { predictedSeconds: 1, measuredSeconds: 8 } };
  expect(fitCorrections([{ prefill: { predictedSeconds: 30, measuredSeconds: 33 } }, tiny, tiny, tiny, tiny])!.prefill).toBeCloseTo(1.1);
});

test('a part too short to tell is left as it is, and no factor is out of all reason', () => {
  const { prefill, ...others } = observe();
  expect(fitCorrections([others])!.prefill).toBeUndefined();
  expect(fitCorrections([{ prefill: { predictedSeconds: 0.001, measuredSeconds: 900 } }])!.prefill).toBe(30);
  const tiny = observeTime(plan().plan, imagineNode('cpu:2:16GiB'), { done: { ...plan().plan.workload, newTokens: 1, decodePairs: 1 }, rates: measured.rates, phaseSeconds: 36 });
  expect(tiny.decode).toBeUndefined();
  expect(tiny.start).toBeUndefined();
});
