import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { guardOutput } from './output.ts';

function guard() {
  const [stdout, stderr] = [new EventEmitter(), new EventEmitter()];
  const exits: number[] = [];
  const said: string[] = [];
  guardOutput({ stdout, stderr: Object.assign(stderr, { write: (text: string) => said.push(text) }), exit: (code) => exits.push(code) });
  const fail = (stream: EventEmitter, code: string) => stream.emit('error', Object.assign(new Error(code), { code }));
  return { exits, said, failStdout: (code: string) => fail(stdout, code), failStderr: (code: string) => fail(stderr, code) };
}

test('a reader of stdout that leaves early ends the command as a broken pipe', () => {
  const { exits, failStdout } = guard();
  failStdout('EPIPE');
  expect(exits).toEqual([141]);
});

test('where the file behind stdout has no room the command says so and ends', () => {
  const { exits, said, failStdout } = guard();
  failStdout('ENOSPC');
  expect(exits).toEqual([3]);
  expect(said.join()).toContain('no space left where stdout goes');
});

test('a run goes on when nobody reads stderr, its terminal was closed, or its file has no room', () => {
  const { exits, failStdout, failStderr } = guard();
  failStderr('EPIPE');
  failStderr('EIO');
  failStderr('ENOSPC');
  failStdout('EIO');
  expect(exits).toEqual([]);
});

test('anything else that goes wrong with the output is said', () => {
  const { failStdout, failStderr } = guard();
  expect(() => failStdout('EBADF')).toThrow('EBADF');
  expect(() => failStderr('EBADF')).toThrow('EBADF');
});
