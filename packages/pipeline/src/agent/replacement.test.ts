import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { Failure } from '@assay/protocol';
import { WorkerFailure } from '@assay/workers';
import { expect, test } from 'vitest';
import { findReplacement, findRetryReason } from './replacement.ts';

const plan = { maxNumSeqs: 8 } as Plan;
const smaller = { maxNumSeqs: 4 } as Plan;
const worker = { role: 'engine', worker: 'engine-0', logFile: 'engine-0.log' } as const;
const say = (failure: Failure) => new WorkerFailure({ ...worker, kind: 'failed', failure });
const died = (isOutOfMemory = false) => new WorkerFailure({
  ...worker, kind: 'ended', exit: { code: null, signal: 'SIGKILL', how: 'killed', firstError: '', tail: [], logFile: '', ...(isOutOfMemory ? { exhausted: { what: 'the machine has none left' } } : {}) },
});

test('a process that dies while it loads is replaced under its plan, also one that died before it could take the command', async () => {
  const early = new AssayError('WORKER_START', { role: 'engine', worker: 'engine-0', problem: 'killed', log: 'engine-0.log' }, { cause: died() });
  for (const thrown of [died(), early]) expect(await findReplacement(thrown, { plan, why: 'ended' })).toEqual({ plan, why: 'ended' });
});

test('a plan that ran out of memory gives way to a smaller one, and is not tried again where there is none', async () => {
  const oom = say({ class: 'oom', message: 'no memory' });
  expect(await findReplacement(oom, { plan, why: 'ended', stepDown: async () => smaller })).toMatchObject({ plan: smaller, why: 'could not load (no memory)' });
  expect(await findReplacement(oom, { plan, why: 'ended', stepDown: async () => undefined })).toBeUndefined();
  expect(await findReplacement(died(true), { plan, why: 'ended' })).toBeUndefined();
});

test('what a fresh process may not meet again is a reason to try again; what a load says of the model is not', async () => {
  const taken = say({ class: 'port', message: 'address already in use' });
  expect(findRetryReason(taken)).toBe('could not load (address already in use)');
  expect(await findReplacement(taken, { plan, why: 'ended' })).toEqual({ plan, why: 'could not load (address already in use)' });
  expect(findRetryReason(died())).toBeUndefined();
  expect(await findReplacement(say({ class: 'arch', message: 'broken' }), { plan, why: 'ended' })).toBeUndefined();
});
