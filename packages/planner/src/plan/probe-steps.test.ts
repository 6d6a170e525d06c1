import fc from 'fast-check';
import { expect, test } from 'vitest';
import { REQUEST_KINDS } from '@assay/domain';
import { planProbeSteps } from './probe-steps.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

const limits = { maxNumSeqs: 64, maxNumBatchedTokens: 4096, maxModelLen: 8192 };

test('each kind of the run is probed with its longest request, the budget included', () => {
  const index = buildIndex([
    { kind: 'loglikelihood', context: 3000, continuation: 12 },
    { kind: 'loglikelihood', context: 40, continuation: 2 },
    { context: 100, budget: 900 },
    { context: 700, budget: 256 },
    { context: 200, budget: 256 },
  ]);
  expect(planProbeSteps(index, limits)).toEqual([
    { kind: 'loglikelihood', contextTokens: 3000, continuationTokens: 12, newTokens: 1, sequences: 2 },
    { kind: 'generate_until', contextTokens: 100, continuationTokens: 0, newTokens: 900, sequences: 3 },
  ]);
});

test('a short request is repeated until it fills the batch', () => {
  const index = buildIndex(Array.from({ length: 500 }, () => ({ kind: 'loglikelihood' as const, context: 99, continuation: 1 })));
  expect(planProbeSteps(index, limits)[0]!.sequences).toBe(41);
});

test('a step never exceeds the window, the sequences or the requests there are', () => {
  const request = fc.record({ kind: fc.constantFrom(...REQUEST_KINDS), context: fc.integer({ min: 1, max: 9000 }), continuation: fc.nat(9000), budget: fc.nat(9000) });
  fc.assert(fc.property(fc.array(request, { minLength: 1, maxLength: 20 }), fc.integer({ min: 2, max: 9000 }), (fixtures, maxModelLen) => {
    const steps = planProbeSteps(buildIndex(fixtures), { ...limits, maxModelLen });
    expect(steps.map(({ kind }) => kind)).toEqual(REQUEST_KINDS.filter((kind) => fixtures.some((fixture) => fixture.kind === kind)));
    for (const step of steps) {
      expect(step.contextTokens + step.continuationTokens + step.newTokens).toBeLessThanOrEqual(maxModelLen);
      expect(step.contextTokens).toBeGreaterThan(0);
      expect(step.continuationTokens).toBeGreaterThanOrEqual(0);
      expect(step.sequences).toBeLessThanOrEqual(fixtures.filter(({ kind }) => kind === step.kind).length);
    }
  }));
});
