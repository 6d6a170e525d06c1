import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { guardOutput } from './output.ts';

function guard() {
  const [stdout, stderr] = [new EventEmitter(), new EventEmitter()];
  const exits: number[] = [];
  guardOutput({ stdout, stderr, exit: (code) => exits.push(code) });
  const fail = (stream: EventEmitter, code: string) => stream.emit('error', Object.assign(new Error(code), { code }));
  return { exits, failStdout: (code: string) => fail(stdout, code), failStderr: (code: string) => fail(stderr, code) };
}

test('a reader of stdout that leaves early ends the command as a broken pipe', () => {
  const { exits, failStdout } = guard();
  failStdout('EPIPE');
  expect(exits).toEqual([141]);
});

test('a run goes on when nobody reads stderr, or its terminal was closed', () => {
  const { exits, failStdout, failStderr } = guard();
  failStderr('EPIPE');
  failStderr('EIO');
  failStdout('EIO');
  expect(exits).toEqual([]);
});

test('anything else that goes wrong with the output is said', () => {
  const { failStdout, failStderr } = guard();
  expect(() => failStdout('ENOSPC')).toThrow('ENOSPC');
  expect(() => failStderr('ENOSPC')).toThrow('ENOSPC');
});
