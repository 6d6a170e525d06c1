import { expect, test } from 'vitest';
import { learnRates } from './rates.ts';

test('rates of kinds that alternate are told apart, and an unseen kind is scaled like the others', () => {
  const work = (prefill: number, decode: number) => ({ request: 0, scored: 0, prefill, decode, attention: 0 });
  const intervals = Array.from({ length: 20 }, (_, place) => {
    const done = work(1000 + 900 * Math.sin(place), 200 - 150 * Math.sin(place));
    return { seconds: done.prefill * 0.001 + done.decode * 0.02, work: done };
  });
  const rates = learnRates(intervals)!;
  expect(rates.prefill).toBeCloseTo(0.001, 3);
  expect(rates.decode / 0.02).toBeGreaterThan(0.9);
  expect(rates.scored).toBeGreaterThan(0);
  expect(learnRates([{ seconds: 1, work: work(0, 0) }])).toBeUndefined();
});
