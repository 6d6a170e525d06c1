import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { LOAD, startTestWorker } from './testing/start-test-worker.ts';
import { watchProgress } from './watchdog.ts';
import { WorkerFailure } from './worker-failure.ts';

describe('the watchdog', () => {
  test('ends a worker whose heart beats but whose work stands still, and its log tells where', async () => {
    const { worker } = startTestWorker('hangs');
    await worker.hello;
    const reasons: string[] = [];
    watchProgress(worker, { stallTimeoutMs: 400, onStalled: (reason) => reasons.push(reason) });
    const failure = await worker.request(LOAD).catch((error: unknown) => error as WorkerFailure);
    expect(failure).toBeInstanceOf(WorkerFailure);
    expect((failure as WorkerFailure).exit?.reason).toBe('no progress for 0.4 s while loading (stall_timeout)');
    expect(reasons).toEqual(['no progress for 0.4 s while loading (stall_timeout)']);
    expect(readFileSync(worker.logFile, 'utf8')).toContain('wait_for_a_device_that_is_gone');
  });

  test('leaves a slow load alone that takes longer in all than the limit, since it advances', async () => {
    const { worker } = startTestWorker('loads_slowly');
    await worker.hello;
    const stop = watchProgress(worker, { stallTimeoutMs: 1_000 });
    expect((await worker.request(LOAD)).type).toBe('loaded');
    stop();
  });

  test('ends a load that stops half-way', async () => {
    const { worker } = startTestWorker('loads_slowly');
    await worker.hello;
    watchProgress(worker, { stallTimeoutMs: 300 });
    await expect(worker.request({ ...LOAD, engineArgs: { parts: 5 } })).rejects.toMatchObject({ kind: 'ended' });
  });

  test('does not count the time in which a worker has nothing to do', async () => {
    let nowMs = 0;
    let tick = (): void => undefined;
    const setTimer = (callback: () => void) => {
      tick = callback;
      return () => undefined;
    };
    const { worker } = startTestWorker('swallows', { now: () => nowMs });
    await worker.hello;
    const stop = watchProgress(worker, { stallTimeoutMs: 1_000, now: () => nowMs, setTimer });
    nowMs = 1e9;
    tick();
    expect(worker.state).toBe('waiting');
    const reply = worker.request(LOAD).catch((error: unknown) => error as WorkerFailure);
    await waitUntil('work', () => worker.state === 'loading');
    nowMs += 1_000;
    tick();
    expect(worker.state).toBe('loading');
    nowMs += 1;
    tick();
    expect((await reply as WorkerFailure).exit?.reason).toContain('no progress for 1 s');
    stop();
  });
});
