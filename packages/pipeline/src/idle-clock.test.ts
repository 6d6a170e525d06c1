import { expect, test } from 'vitest';
import { IdleClock } from './idle-clock.ts';

function clockAt(times: number[]): IdleClock {
  return new IdleClock(() => times.shift() as number);
}

test('time in which an engine computes is nobody\'s idle time', () => {
  // start, begin at 1 s, end at 5 s, read at 6 s
  const clock = clockAt([0, 1_000, 5_000, 6_000]);
  clock.beginComputing();
  clock.endComputing();
  expect(clock.share()).toEqual({ wallSeconds: 6, computingSeconds: 4, idleSeconds: { render: 2, load: 0, queue: 0, score: 0 } });
});

test('idle time goes to the cause in force while it passed', () => {
  const clock = clockAt([0, 2_000, 3_000, 7_000]);
  clock.setCause('load');
  clock.setCause('score');
  expect(clock.share().idleSeconds).toEqual({ render: 2, load: 1, queue: 0, score: 4 });
});

test('two engines computing at once count once, and the causes and computing add up to the wall time', () => {
  const clock = clockAt([0, 1_000, 2_000, 3_000, 5_000, 9_000]);
  clock.beginComputing();
  clock.beginComputing();
  clock.endComputing();
  clock.endComputing();
  const { wallSeconds, computingSeconds, idleSeconds } = clock.share();
  expect(computingSeconds).toBe(4);
  expect(computingSeconds + Object.values(idleSeconds).reduce((sum, seconds) => sum + seconds, 0)).toBe(wallSeconds);
});
