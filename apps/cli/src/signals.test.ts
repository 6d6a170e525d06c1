import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { listenForInterrupts } from './signals.ts';

test('the first signal drains, the second stops, whichever they are', () => {
  const source = new EventEmitter();
  const told: string[] = [];
  const signals = listenForInterrupts(source, (text) => told.push(text));
  source.emit('SIGINT', 'SIGINT');
  expect([signals.drain.aborted, signals.stop.aborted]).toEqual([true, false]);
  source.emit('SIGTERM', 'SIGTERM');
  expect(signals.stop.aborted).toBe(true);
  source.emit('SIGINT', 'SIGINT');
  expect(told).toEqual(['SIGINT: ending the run; once more stops it at once', 'SIGTERM: stopping now']);
});

test('after the run no handler is left', () => {
  const source = new EventEmitter();
  listenForInterrupts(source, () => undefined).release();
  expect(source.eventNames()).toEqual([]);
});
