import { expect, test } from 'vitest';
import { WorkIntervals } from './work-intervals.ts';
import { NO_WORK } from '../requests/work.ts';

const prompts = (tokens: number) => ({ ...NO_WORK, prefill: tokens });

test('an interval ends with a step, and not before a second', () => {
  const intervals = new WorkIntervals();
  intervals.add(0.4, prompts(100));
  intervals.add(0.7, NO_WORK);
  intervals.add(2, NO_WORK);
  expect(intervals.list()).toEqual([{ seconds: 3.1, work: prompts(100) }]);
  intervals.add(0.5, prompts(50));
  intervals.add(0.2, NO_WORK);
  expect(intervals.list()).toEqual([{ seconds: 3.6, work: prompts(150) }]);
});

test('the first interval, which began before the engine did, goes as soon as there is another', () => {
  const intervals = new WorkIntervals();
  intervals.add(9, prompts(10));
  intervals.add(1, prompts(100));
  intervals.add(1, prompts(120));
  expect(intervals.list().map(({ seconds }) => seconds)).toEqual([1, 1]);
});

test('however long the run, there are few intervals, and they hold all of its work', () => {
  const intervals = new WorkIntervals();
  for (let second = 0; second < 1000; second += 1) intervals.add(1, prompts(100));
  expect(intervals.list().length).toBeLessThanOrEqual(49);
  expect(intervals.list().reduce((sum, { seconds }) => sum + seconds, 0)).toBe(999);
  expect(intervals.list().reduce((sum, { work }) => sum + work.prefill, 0)).toBe(99_900);
});

test('the step under way counts for no longer than the longest before it', () => {
  const intervals = new WorkIntervals();
  for (let step = 0; step < 3; step += 1) intervals.add(2, prompts(100));
  intervals.add(1.5, NO_WORK);
  expect(intervals.secondsSinceWork()).toBe(1.5);
  intervals.add(60, NO_WORK);
  expect(intervals.secondsSinceWork()).toBe(2);
});
