import { readFileSync } from 'node:fs';
import { MIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { estimateMemory, type MemoryPlan } from './memory.ts';
import { smollm2 } from '../model/model-facts-fixture.ts';
import { correctionBytes, fitResidual, type MemoryObservation, observeMemory } from './residual.ts';

const KINDS = ['resident', 'address_space'] as const;

interface Peaks {
  engine: string;
  machine: string;
  settings: { name: string; plan: MemoryPlan; workload: { longestTokens: number; longestScoredTokens: number }; peakBytes: Record<(typeof KINDS)[number], number> }[];
}

/** Written by `node bench/memory/run.ts FILE`: it names the engine's build and the machine. */
const peaks = JSON.parse(readFileSync(new URL('../../fixtures/memory-peaks.json', import.meta.url), 'utf8')) as Peaks;

function observe(kind: (typeof KINDS)[number]): MemoryObservation[] {
  return peaks.settings.map(({ plan, workload, peakBytes }) => observeMemory(estimateMemory({ facts: smollm2, plan, workload, kind }), peakBytes[kind]));
}

/** Error of each setting's prediction, corrected by the others alone. */
function leaveOneOut(observations: readonly MemoryObservation[]): number[] {
  return observations.map((observation, place) => errorOf(observation, observations.filter((_, other) => other !== place)));
}

function errorOf(observation: MemoryObservation, learnedFrom: readonly MemoryObservation[]): number {
  return Math.abs((observation.predictedBytes + correctionBytes(fitResidual(learnedFrom), observation)) / observation.measuredBytes - 1);
}

test('the recorded settings are those the check asks for', () => {
  expect(peaks.engine).toMatch(/vllm/);
  expect(peaks.settings.length).toBeGreaterThanOrEqual(8);
  const terms = peaks.settings.map(({ plan, workload }) => estimateMemory({ facts: smollm2, plan, workload, kind: 'resident' }).terms);
  const largest = terms.map((each) => Object.entries(each).sort(([, a], [, b]) => b - a)[0]?.[0]);
  expect(largest).toEqual(expect.arrayContaining(['kv', 'promptLogprobs']));
  expect(new Set(peaks.settings.map(({ plan }) => plan.dtype)).size).toBe(2);
});

test.each(KINDS)('%s: every recorded peak is met within a tenth by what the other settings have shown', (kind) => {
  expect(Math.max(...leaveOneOut(observe(kind)))).toBeLessThan(0.1);
});

test.each([
  ['a process that is 600 MiB smaller than thought', 600 * MIB, 1],
  ['a process that is 400 MiB larger than thought', -400 * MIB, 1],
  ['steps that take two thirds of what was thought', 0, 1.5],
  ['steps that take a third more, in a larger process', -400 * MIB, 0.75],
] as const)('%s is learned: the rest of the error is the noise', (_, fixedBytes, factor) => {
  const observations = observe('resident').map(({ predictedBytes, transientBytes, measuredBytes }) => (
    { predictedBytes: predictedBytes + fixedBytes + (factor - 1) * transientBytes, transientBytes: factor * transientBytes, measuredBytes }));
  expect(Math.max(...observations.map((observation) => errorOf(observation, [])))).toBeGreaterThan(0.1);
  expect(Math.max(...leaveOneOut(observations))).toBeLessThan(0.1);
});

test('nothing measured corrects nothing, and one measurement corrects its own setting nearly whole', () => {
  const observation = { predictedBytes: 3000 * MIB, transientBytes: 1000 * MIB, measuredBytes: 3300 * MIB };
  expect(correctionBytes(fitResidual([]), observation)).toBe(0);
  expect(correctionBytes(fitResidual([observation]), observation) / MIB).toBeGreaterThan(270);
  expect(correctionBytes(fitResidual([observation]), observation) / MIB).toBeLessThan(300);
});

test('a measurement of something else moves a prediction by half of it at most', () => {
  const observation = { predictedBytes: 3000 * MIB, transientBytes: 1000 * MIB, measuredBytes: 10 * MIB };
  expect(correctionBytes(fitResidual([observation]), observation)).toBe(-1500 * MIB);
  expect(correctionBytes(fitResidual([{ ...observation, measuredBytes: 1e12 }]), observation)).toBe(1500 * MIB);
});

test('an estimate that was corrected is held against its raw value, so that no correction is learned twice', () => {
  const input = { facts: smollm2, plan: peaks.settings[0]!.plan, workload: peaks.settings[0]!.workload, kind: 'resident' as const };
  const residuals = { resident: { fixedBytes: 300 * MIB, transientShare: 0.1, settings: 3 } };
  expect(observeMemory(estimateMemory({ ...input, residuals }), 1)).toEqual(observeMemory(estimateMemory(input), 1));
});
