import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { keepFromHangups, listenForInterrupts } from './signals.ts';

const silent = { tell: () => undefined, firstDoes: 'ending' };

test('the first signal drains, the second stops, whichever they are', () => {
  const source = new EventEmitter();
  const told: string[] = [];
  const signals = listenForInterrupts(source, {}, { tell: (text) => told.push(text), firstDoes: 'ending' });
  source.emit('SIGINT', 'SIGINT');
  expect([signals.drain.aborted, signals.stop.aborted]).toEqual([true, false]);
  source.emit('SIGTERM', 'SIGTERM');
  expect(signals.stop.aborted).toBe(true);
  source.emit('SIGINT', 'SIGINT');
  expect(told).toEqual(['SIGINT: ending', 'SIGTERM: stopping now']);
});

test('after the run no handler is left', () => {
  const source = new EventEmitter();
  listenForInterrupts(source, {}, silent).release();
  expect(source.eventNames()).toEqual([]);
});

test('a closed terminal drains, however often it says so', () => {
  const source = new EventEmitter();
  const signals = listenForInterrupts(source, {}, silent);
  for (let time = 0; time < 3; time += 1) source.emit('SIGHUP', 'SIGHUP');
  expect([signals.drain.aborted, signals.stop.aborted]).toEqual([true, false]);
  source.emit('SIGTERM', 'SIGTERM');
  expect(signals.stop.aborted).toBe(true);
});

test('under nohup a closed terminal means nothing', () => {
  const source = new EventEmitter();
  const env = { ASSAY_NOHUP: '1' };
  keepFromHangups(source, env);
  const signals = listenForInterrupts(source, env, silent);
  expect(source.emit('SIGHUP', 'SIGHUP')).toBe(true);
  expect(signals.drain.aborted).toBe(false);
  signals.release();
  expect(source.listenerCount('SIGHUP')).toBe(1);
});
