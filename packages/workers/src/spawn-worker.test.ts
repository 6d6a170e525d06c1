import { readFileSync } from 'node:fs';
import { AssayError } from '@assay/domain';
import { describe, expect, test } from 'vitest';
import { isAlive } from '../../../test/support/process-table.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { buildShard, LOAD, startTestWorker } from './testing/start-test-worker.ts';
import { WorkerFailure } from './worker-failure.ts';

const states = (moves: { to: string }[]) => moves.map(({ to }) => to);

async function failureOf(promise: Promise<unknown>): Promise<WorkerFailure> {
  const thrown = await promise.then(() => undefined, (error: unknown) => error);
  if (!(thrown instanceof WorkerFailure)) throw new Error(`no WorkerFailure but ${thrown}`);
  return thrown;
}

describe('a worker that does what it is asked', () => {
  test('moves through the states of the table and answers each request', async () => {
    const { worker, moves, events } = startTestWorker('happy');
    expect((await worker.hello).pid).toBe(worker.pid);
    expect((await worker.request(LOAD)).type).toBe('loaded');
    const done = await worker.request(buildShard(0, 3));
    expect(done).toMatchObject({ type: 'shard_done', shard: 's0000', attempt: 1 });
    expect(events.flatMap((event) => (event.type === 'results' ? event.results : [])).map(({ row }) => row)).toEqual([0, 1, 2]);
    const exit = await worker.stop({ graceMs: 5_000 });
    expect(exit).toMatchObject({ code: 0, signal: null, how: 'exit code 0' });
    expect(states(moves)).toEqual(['waiting', 'loading', 'ready', 'busy', 'ready', 'draining', 'exited']);
  });

  test('is busy until the last of two shards is done', async () => {
    const { worker, moves } = startTestWorker('happy');
    await worker.request(LOAD);
    await Promise.all([worker.request(buildShard(0, 1)), worker.request(buildShard(1, 2, 's0001'))]);
    expect(states(moves)).toEqual(['waiting', 'loading', 'ready', 'busy', 'ready']);
  });

  test('runs on the cores it is given', async () => {
    const { worker } = startTestWorker('happy', { cpus: [0] });
    await worker.hello;
    expect(readFileSync(`/proc/${worker.pid}/status`, 'utf8')).toMatch(/Cpus_allowed_list:\t0\n/);
  });
});

describe('a worker that does not start', () => {
  test('is a WORKER_START with the exit code', async () => {
    const { worker, moves } = startTestWorker('crash');
    await expect(worker.hello).rejects.toMatchObject({ code: 'WORKER_START', details: { problem: 'exit code 7' } });
    await expect(worker.request(LOAD)).rejects.toBeInstanceOf(AssayError);
    expect(states(moves)).toEqual(['crashed']);
  });

  test('is a WORKER_START when it stays silent', async () => {
    const { worker } = startTestWorker('happy', { program: ['-c', 'import time; time.sleep(60)'], startTimeoutMs: 200 });
    await expect(worker.hello).rejects.toMatchObject({ code: 'WORKER_START', details: { problem: 'it was not up within 0.2 s' } });
  });

  test('is a WORKER_PROTOCOL when it speaks another version, whatever its hello holds', async () => {
    const { worker } = startTestWorker('wrong_version');
    await expect(worker.hello).rejects.toMatchObject({ code: 'WORKER_PROTOCOL', details: { found: '99', known: 1 } });
    expect(isAlive(worker.pid)).toBe(false);
  });

  test('names the interpreter that is missing', () => {
    expect(() => startTestWorker('happy', { python: '/no/such/python' })).toThrow(expect.objectContaining({ code: 'PYTHON_MISSING' }));
  });
});

describe('a worker that ends while it works', () => {
  test('keeps what it did, and shows the first error since it last did well', async () => {
    const { worker, events, moves } = startTestWorker('crash_with_reason');
    await worker.request(LOAD);
    const failure = await failureOf(worker.request(buildShard(0, 3)));
    expect(failure).toMatchObject({ kind: 'ended', message: 'RuntimeError: the device fell off the bus' });
    expect(failure.exit).toMatchObject({ code: 1, how: 'exit code 1' });
    expect(failure.exit?.tail).toHaveLength(100);
    expect(failure.exit?.tail.at(-1)).toBe('EngineDeadError: the engine is dead');
    expect(failure.toAssayError()).toMatchObject({ code: 'WORKER_CRASHED', details: { how: 'exit code 1' } });
    expect(events.filter(({ type }) => type === 'results')).toHaveLength(1);
    expect(states(moves).at(-1)).toBe('crashed');
  });

  test('names the signal of a segmentation fault and the interpreter\'s last words', async () => {
    const { worker } = startTestWorker('segfault');
    const failure = await failureOf(worker.request(LOAD));
    expect(failure.exit).toMatchObject({ signal: 'SIGSEGV', how: 'SIGSEGV' });
    expect(failure.message).toBe('Fatal Python error: Segmentation fault');
  });

  test('hints at the memory when somebody else sent SIGKILL', async () => {
    const { worker } = startTestWorker('swallows');
    await worker.hello;
    const reply = failureOf(worker.request(LOAD));
    process.kill(worker.pid, 'SIGKILL');
    expect((await reply).exit?.how).toContain('out of memory');
    await expect(failureOf(worker.request(LOAD))).resolves.toMatchObject({ kind: 'ended' });
  });
});

describe('what a worker says', () => {
  test('print() and garbage on the event channel disturb nothing', async () => {
    const { worker } = startTestWorker('prints_on_stdout');
    await worker.request(LOAD);
    expect(worker.garbageLines).toBe(2);
    await worker.stop({ graceMs: 5_000 });
    expect(readFileSync(worker.logFile, 'utf8')).toContain('a banner on stdout');
  });

  test('an answer that does not follow the protocol ends the worker, since nobody could wait for a better one', async () => {
    const { worker } = startTestWorker('answers_amiss');
    const failure = await failureOf(worker.request(LOAD));
    expect(failure).toMatchObject({ kind: 'ended', exit: { how: expect.stringContaining('its "loaded" does not follow the protocol at seconds') } });
  });

  test('a failure rejects its request only, with the table\'s code where it has one', async () => {
    const { worker, moves } = startTestWorker('refuses');
    const load = await failureOf(worker.request(LOAD));
    expect(load.toAssayError()).toMatchObject({ code: 'MODEL_NOT_FOUND', details: { model: 'm' } });
    const shard = await failureOf(worker.request(buildShard(0, 1)));
    expect(shard).toMatchObject({ kind: 'failed', failure: { class: 'oom', allocationBytes: 805306368 } });
    expect(states(moves)).toEqual(['waiting', 'loading', 'waiting', 'busy', 'waiting']);
  });

  test('an attempt that is canceled is withdrawn, and the worker is free again', async () => {
    const { worker } = startTestWorker('swallows');
    await worker.hello;
    const reply = failureOf(worker.request(buildShard(0, 1)));
    expect(worker.state).toBe('busy');
    worker.send({ type: 'cancel', shard: 's0000', attempt: 1 });
    expect((await reply).kind).toBe('withdrawn');
    expect(worker.state).toBe('waiting');
  });
});

describe('the kill ladder', () => {
  test('ends a grandchild that ignores SIGTERM and holds every pipe', async () => {
    const { worker, events } = startTestWorker('grandchild_ignores_sigterm');
    const grandchild = await waitUntil('the grandchild', () => events.find((event) => event.type === 'heartbeat')?.progress);
    expect(isAlive(grandchild)).toBe(true);
    expect((await worker.stop({ graceMs: 5_000 })).code).toBe(0);
    expect(isAlive(grandchild)).toBe(false);
  });

  test('ends the grandchild of a worker that somebody killed', async () => {
    const { worker, events } = startTestWorker('grandchild_ignores_sigterm');
    const grandchild = await waitUntil('the grandchild', () => events.find((event) => event.type === 'heartbeat')?.progress);
    process.kill(worker.pid, 'SIGKILL');
    await worker.exited;
    expect(isAlive(grandchild)).toBe(false);
  });

  test('climbs to SIGKILL for a worker that is deaf', async () => {
    const { worker, moves } = startTestWorker('hangs');
    await worker.hello;
    void worker.request(LOAD).catch(() => undefined);
    await waitUntil('work', () => worker.lastHeartbeat !== undefined);
    expect(await worker.stop({ graceMs: 50 })).toMatchObject({ signal: 'SIGKILL', how: 'ended by Assay: stopped' });
    expect(states(moves).at(-1)).toBe('exited');
  });

  test('a worker stopped while it starts ends too', async () => {
    const { worker } = startTestWorker('happy', { program: ['-c', 'import time; time.sleep(60)'] });
    await worker.stop({ graceMs: 50 });
    await expect(worker.hello).rejects.toMatchObject({ code: 'WORKER_START' });
  });

  test('commands to a worker that has ended disturb nobody', async () => {
    const { worker } = startTestWorker('happy', { logFile: `${makeTempDir()}/w.log` });
    await worker.hello;
    await worker.kill('enough');
    worker.send({ type: 'cancel', shard: 's0000', attempt: 1 });
    expect((await worker.stop({ graceMs: 1 })).reason).toBe('enough');
  });
});
