import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestIndex } from '@assay/protocol';
import { HeartbeatSums } from './heartbeat-sums.ts';
import { orderRequests } from '../requests/order.ts';
import { RunProgressModel } from './remaining.ts';
import { TOKEN_WEIGHTS } from '../requests/request-costs.ts';
import { buildIndex, type RequestFixture } from '../requests/request-index-fixture.ts';
import { GENERATE } from '../requests/request-lengths.ts';
import type { Work } from '../requests/work.ts';

interface EngineSpeed {
  stepSeconds: number;
  prefillSeconds: number;
  scoredSeconds: number;
  decodeSeconds: number;
  pairSeconds: number;
  sequences: number;
  batchedTokens: number;
}

const laptop: EngineSpeed = { stepSeconds: 0.03, prefillSeconds: 1 / 2850, scoredSeconds: 1 / 2600, decodeSeconds: 1 / 1200, pairSeconds: 1e-7, sequences: 64, batchedTokens: 4096 };
// As weighWork has it for a model of 135 M parameters.
const smallModel: Work = { ...TOKEN_WEIGHTS, attention: 1 / 3_000 };

interface Moment {
  atSeconds: number;
  seconds: number | null;
  fraction: number;
}

/** Runs an index on a simulated engine with continuous batching, and asks for an estimate once a second. */
function simulate(index: RequestIndex, speed: EngineSpeed, answerTokens: (row: number) => number, knownRates?: Work) {
  const { kind, contextTokens, continuationTokens } = index.columns;
  const order = orderRequests(index, { kvCacheTokens: 1e6 });
  const model = new RunProgressModel(index, { order, maxNumBatchedTokens: speed.batchedTokens, priorRates: smallModel, knownRates });
  const sums = new HeartbeatSums();
  const waiting = [...order];
  const running: { row: number; length: number; prefilled: number; toDecode: number }[] = [];
  const counts = { steps: 0, promptTokens: 0, newTokens: 0 };
  const moments: Moment[] = [];
  let atSeconds = 0;
  while (waiting.length > 0 || running.length > 0) {
    const step = { room: speed.batchedTokens };
    let seconds = speed.stepSeconds;
    const prefill = (request: (typeof running)[number]) => {
      const tokens = Math.min(step.room, request.length - request.prefilled);
      step.room -= tokens;
      seconds += tokens * (kind[request.row] === GENERATE ? speed.prefillSeconds : speed.scoredSeconds);
      seconds += (((request.prefilled + tokens) ** 2 - request.prefilled ** 2) / 2) * speed.pairSeconds;
      request.prefilled += tokens;
      if (tokens > 0 && request.prefilled === request.length) counts.promptTokens += request.length;
    };
    for (const request of running) prefill(request);
    while (running.length < speed.sequences && waiting.length > 0 && step.room > 0) {
      const row = waiting.shift()!;
      const length = contextTokens[row]! + continuationTokens[row]!;
      running.push({ row, length, prefilled: 0, toDecode: kind[row] === GENERATE ? answerTokens(row) : 1 });
      prefill(running.at(-1)!);
    }
    for (const request of running.filter(({ prefilled, length }) => prefilled === length)) {
      request.toDecode -= 1;
      seconds += kind[request.row] === GENERATE ? speed.decodeSeconds : 0;
      counts.newTokens += 1;
    }
    atSeconds += seconds;
    counts.steps += 1;
    for (const { row } of running.filter(({ toDecode }) => toDecode <= 0)) {
      const newTokens = kind[row] === GENERATE ? answerTokens(row) : 1;
      model.finish(row, { newTokens, cachedTokens: 0 });
    }
    running.splice(0, running.length, ...running.filter(({ toDecode }) => toDecode > 0));
    sums.note(0, { ...counts, runningRequests: running.length });
    // As the progress reporter does: once a second.
    if (atSeconds - (moments.at(-1)?.atSeconds ?? 0) < 1 && waiting.length + running.length > 0) continue;
    model.observe({ atSeconds, ...sums.counters() });
    moments.push({ atSeconds, ...model.estimate(atSeconds) });
  }
  return { moments, totalSeconds: atSeconds, rates: model.rates() };
}

/** Largest error of the predicted total, in parts of the true one, once a fifth is done. */
function worstError({ moments, totalSeconds }: ReturnType<typeof simulate>): number {
  const late = moments.filter(({ atSeconds, fraction }) => fraction >= 0.2 && atSeconds >= totalSeconds / 5);
  return Math.max(...late.map(({ atSeconds, seconds }) => Math.abs(atSeconds + seconds! - totalSeconds) / totalSeconds));
}

const repeat = (count: number, fixture: (row: number) => RequestFixture) => Array.from({ length: count }, (_, row) => fixture(row));
const demo = buildIndex([
  ...repeat(160, (row) => ({ kind: 'loglikelihood', task: 0, context: 150 + (row % 40), continuation: 1 + (row % 6), group: Math.floor(row / 4) })),
  ...repeat(60, (row) => ({ kind: 'loglikelihood', task: 1, context: 100 + row * 57, continuation: 3, group: 100 + row })),
  ...repeat(120, (row) => ({ task: 2, context: 120 + (row % 60), budget: 64, group: 1000 + row })),
  ...repeat(60, (row) => ({ task: 3, context: 200 + (row % 90), budget: 256, group: 2000 + row })),
]);
const answer = (row: number) => 4 + ((row * 7919) % 60);

test('a run of many short and some very long samples is foreseen within 30 % after a fifth', () => {
  const index = buildIndex([...repeat(900, () => ({ kind: 'loglikelihood', context: 200 })), ...repeat(100, () => ({ kind: 'loglikelihood', context: 30_000 }))]);
  expect(worstError(simulate(index, { ...laptop, stepSeconds: 0 }, () => 1))).toBeLessThan(0.15);
  const generated = buildIndex([...repeat(900, () => ({ context: 200, budget: 40 })), ...repeat(100, () => ({ context: 30_000, budget: 40 }))]);
  // An engine with fixed tokens a second, and one whose attention makes most of the work.
  for (const pairSeconds of [0, laptop.pairSeconds]) {
    expect(worstError(simulate(generated, { ...laptop, pairSeconds }, () => 40))).toBeLessThan(0.3);
  }
});

test('the demo\'s mix is foreseen within 15 % after a fifth', () => {
  expect(worstError(simulate(demo, laptop, answer))).toBeLessThan(0.15);
});

test.each([1 / 900, 1 / 2600])('scoring at %f s a token is foreseen roughly at first, and well with the rates of an earlier run', (scoredSeconds) => {
  const first = simulate(demo, { ...laptop, scoredSeconds }, answer);
  expect(worstError(first)).toBeLessThan(0.35);
  expect(worstError(simulate(demo, { ...laptop, scoredSeconds, stepSeconds: 0.04 }, answer, first.rates))).toBeLessThan(0.15);
});

test('with the rates of an earlier run there is a forecast before anything is done, and it gives way to what this run shows', () => {
  const index = buildIndex(repeat(600, (row) => ({ kind: 'loglikelihood', context: 300 + (row % 200) })));
  const { rates, totalSeconds } = simulate(index, laptop, answer);
  const unstarted = new RunProgressModel(index, { priorRates: smallModel, knownRates: rates });
  expect(Math.abs((unstarted.estimate(0).seconds ?? 0) / totalSeconds - 1)).toBeLessThan(0.15);
  expect(unstarted.estimate(0).fraction).toBe(0);
  // Half as fast as then, for a machine that does other work as well.
  const slow = simulate(index, { ...laptop, scoredSeconds: 2 * laptop.scoredSeconds, stepSeconds: 2 * laptop.stepSeconds, pairSeconds: 2 * laptop.pairSeconds }, answer, rates);
  expect(worstError(slow)).toBeLessThan(0.3);
  expect(slow.rates!.scored / rates!.scored).toBeCloseTo(2, 0);
});

test('answers that stop early are learned from those that have ended and those still being written', () => {
  const index = buildIndex(repeat(800, (row) => ({ context: 300, budget: 512, task: row % 3 })));
  expect(worstError(simulate(index, laptop, (row) => 10 + ((row * 31) % 150)))).toBeLessThan(0.15);
});

test('the fraction never falls, is never above 1, and is 1 only at the end', () => {
  fc.assert(fc.property(fc.array(fc.record({ context: fc.integer({ min: 1, max: 900 }), budget: fc.nat(80), task: fc.nat(2) }), { minLength: 1, maxLength: 40 }), fc.infiniteStream(fc.nat(200)), (fixtures, lengths) => {
    const made = fixtures.map(() => 1 + (lengths.next().value as number));
    const { moments } = simulate(buildIndex(fixtures), { ...laptop, sequences: 5 }, (row) => made[row]!);
    moments.forEach(({ fraction }, place) => {
      expect(fraction).toBeGreaterThanOrEqual(moments[place - 1]?.fraction ?? 0);
      expect(fraction === 1).toBe(place === moments.length - 1);
    });
    expect(moments.at(-1)!.seconds).toBe(0);
  }), { numRuns: 40 });
});

test('answers of which nothing was expected leave the fraction a number', () => {
  const { moments } = simulate(buildIndex(repeat(2, () => ({ context: 1, budget: 0 }))), { ...laptop, sequences: 5 }, (row) => 8 + 129 * row);
  expect(moments.length).toBeGreaterThan(1);
  for (const { fraction } of moments) expect(fraction).toBeGreaterThan(0);
});

test('57 subtasks of 20 documents with retries and replays end at 1,140 of 1,140', () => {
  const index = buildIndex(repeat(1140, (row) => ({ kind: 'loglikelihood', task: Math.floor(row / 20), context: 50 })));
  const model = new RunProgressModel(index, { finalRows: Array.from({ length: 100 }, (_, row) => row) });
  expect(model.finalRequests).toBe(100);
  expect(model.estimate(1).seconds).toBeNull();
  for (let row = 0; row < 1139; row += 1) {
    model.finish(row);
    if (row % 114 === 0) model.finish(row);
  }
  expect(model.finalRequests).toBe(1139);
  expect(model.estimate(10).fraction).toBeLessThan(1);
  model.finish(1139);
  expect(model.estimate(11)).toEqual({ seconds: 0, fraction: 1 });
});

test('a replaced worker does not turn the sums back', () => {
  const sums = new HeartbeatSums();
  sums.note(0, { steps: 10, promptTokens: 500, newTokens: 90, runningRequests: 4 });
  sums.note(0, { steps: 20, promptTokens: 900, newTokens: 120, runningRequests: 4 });
  sums.note(0, { steps: 3, promptTokens: 50, newTokens: 6, runningRequests: 2 });
  sums.note(1, { steps: 5, promptTokens: 10, newTokens: 1, runningRequests: 1 });
  expect(sums.counters()).toEqual({ steps: 28, promptTokens: 960, newTokens: 127, runningRequests: 3 });
});
