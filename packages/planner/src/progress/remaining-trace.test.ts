// Replays what the progress reporter saw in real first runs of the demo. Definition of an honest estimate, from the moment the
// shown fraction passes 0.2: at every later second, shown and true remaining time differ by no more than 15 % of the request
// phase's whole time. The second run shared its machine with others and slowed by a third on its way: no forecast knows that in advance.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REQUEST_KINDS } from '@assay/domain';
import { RunProgressModel } from './remaining.ts';
import { weighWork } from '../requests/request-costs.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

type Numbers<Length extends number> = number[] & { length: Length };
type Second = [at: number, steps: number, promptTokens: number, newTokens: number, runningRequests: number, finals: Numbers<3>[]];

interface Trace {
  model: Parameters<typeof weighWork>[0];
  maxNumBatchedTokens: number;
  requests: Numbers<5>[];
  runs: { order: number[]; seconds: Second[] }[];
}

const trace = JSON.parse(readFileSync(new URL('remaining-trace-fixture.json', import.meta.url), 'utf8')) as Trace;
const index = buildIndex(trace.requests.map(([task, kind, context, continuation, budget]) => ({ task: task!, kind: REQUEST_KINDS[kind!]!, context: context!, continuation: continuation!, budget: budget! })));

function replay({ order, seconds }: Trace['runs'][number]) {
  const model = new RunProgressModel(index, { order: Uint32Array.from(order), maxNumBatchedTokens: trace.maxNumBatchedTokens, priorRates: weighWork(trace.model, 'cpu') });
  const moments = seconds.map(([atSeconds, steps, promptTokens, newTokens, runningRequests, finals]) => {
    for (const [row, made, cachedTokens] of finals) model.finish(row!, { newTokens: made, cachedTokens });
    model.observe({ atSeconds, steps, promptTokens, newTokens, runningRequests });
    return { atSeconds, ...model.estimate(atSeconds) };
  });
  return { moments, totalSeconds: moments.find(({ fraction }) => fraction === 1)!.atSeconds };
}

test.each([
  { number: 0, worst: 0.15, median: 0.05 },
  { number: 1, worst: 0.25, median: 0.08 },
  { number: 2, worst: 0.15, median: 0.05 },
])('once a fifth of a real demo run is done, the remaining time is right within $worst of the whole, and mostly within $median: run $number', ({ number, worst, median }) => {
  const run = trace.runs[number]!;
  const { moments, totalSeconds } = replay(run);
  const errors = moments.filter(({ fraction }) => fraction > 0.2).map(({ atSeconds, seconds }) => (atSeconds + seconds! - totalSeconds) / totalSeconds);
  const sizes = errors.map(Math.abs).toSorted((a, b) => a - b);
  expect(errors.length).toBeGreaterThan(15);
  expect(sizes.at(-1)).toBeLessThan(worst);
  expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThan(median);
});

test.each(trace.runs)('the fraction of a real demo run never falls and ends at 1: run %#', (run) => {
  const fractions = replay(run).moments.map(({ fraction }) => fraction);
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  expect(fractions.at(-1)).toBe(1);
  expect(Math.max(...fractions)).toBe(1);
});
