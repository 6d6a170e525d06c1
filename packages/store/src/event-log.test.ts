import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { type EventLog, openEventLog, readEvents } from './event-log.ts';
import type { LoggedEvent } from './run-events.ts';
import { foldEvents, sumRequestPhases } from './run-history.ts';

const START = { pid: 1, version: '0.1.0', commit: null, command: ['run'] };
const now = () => new Date('2026-01-01T00:00:00Z');

async function open(path: string): Promise<EventLog> {
  const log = await openEventLog(path, { now });
  onTestFinished(() => log.close().catch(() => undefined));
  return log;
}

const beginAttempt = (log: EventLog, shard: string) => log.beginAttempt({ shard, worker: 'engine-0', begin: 0, end: 8 });

describe('the event log', () => {
  it('counts epochs and attempts from the file alone', async () => {
    const path = join(makeTempDir(), 'events.ndjson');
    const first = await open(path);
    expect(await first.beginEpoch(START)).toBe(1);
    expect([await beginAttempt(first, 's0000'), await beginAttempt(first, 's0000'), await beginAttempt(first, 's0001')]).toEqual([1, 2, 1]);
    await first.close();
    const second = await open(path);
    expect(await second.beginEpoch(START)).toBe(2);
    expect(await beginAttempt(second, 's0000')).toBe(1);
    expect(second.history.attempts).toEqual(new Map([['1-s0000', 2], ['1-s0001', 1], ['2-s0000', 1]]));
  });

  it('counts on from the results where the events were lost, so that no results file is met again', async () => {
    const log = await openEventLog(join(makeTempDir(), 'events.ndjson'), { now, epochsSeen: 3 });
    onTestFinished(() => log.close());
    expect(await log.beginEpoch(START)).toBe(4);
  });

  it('gives attempts begun at once numbers of their own', async () => {
    const log = await open(join(makeTempDir(), 'events.ndjson'));
    await log.beginEpoch(START);
    const attempts = await Promise.all(Array.from({ length: 5 }, () => beginAttempt(log, 's0000')));
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
  });

  it('writes and remembers no secret', async () => {
    const path = join(makeTempDir(), 'events.ndjson');
    const log = await open(path);
    await log.beginEpoch(START);
    await log.append({ type: 'plan_chosen', epoch: 1, rung: 0, plan: { hf_token: 'plain-value', maxNumSeqs: 8 } });
    await log.append({ type: 'warning', epoch: 1, code: 'X', message: 'refused password=plain-value' });
    expect(await readFile(path, 'utf8')).not.toContain('plain-value');
    expect(log.history.warnings).toEqual(foldEvents((await readEvents(path)).events).warnings);
  });

  it('cuts a torn last line at every byte, says so, and goes on behind it', async () => {
    const dir = makeTempDir();
    const log = await open(join(dir, 'whole.ndjson'));
    await log.beginEpoch(START);
    await log.append({ type: 'interrupted', epoch: 1, reason: 'SIGINT \u2028 \u0085' });
    const whole = await readFile(join(dir, 'whole.ndjson'));
    const lastLine = whole.subarray(0, -1).lastIndexOf(10) + 1;
    const path = join(dir, 'events.ndjson');
    for (let length = lastLine; length < whole.length; length += 1) {
      await writeFile(path, whole.subarray(0, length));
      const reopened = await openEventLog(path, { now });
      expect(reopened.tornLines).toBe(length === lastLine ? 0 : 1);
      await reopened.beginEpoch(START);
      await reopened.close();
      const { events, tornLines } = await readEvents(path);
      expect(tornLines).toBe(0);
      expect(events.map(({ type }) => type)).toEqual(['epoch_started', 'epoch_started', ...(length === lastLine ? [] : ['warning'])]);
    }
  });

  it('reads past a torn line without touching it, since a writer may be at work', async () => {
    const path = join(makeTempDir(), 'events.ndjson');
    const log = await open(path);
    await log.beginEpoch(START);
    await appendFile(path, '{"at":"2026');
    expect(await readEvents(path)).toMatchObject({ tornLines: 1, events: [{ type: 'epoch_started' }] });
    expect(await readFile(path, 'utf8')).toMatch(/\{"at":"2026$/);
  });

  it.each([
    ['a line that is no JSON', '{"at":'], ['an event it does not know', '{"at":"2026-01-01T00:00:00Z","type":"surprise"}'],
    ['a field too many', '{"at":"2026-01-01T00:00:00Z","type":"interrupted","epoch":1,"reason":"x","more":1}'],
  ])('takes %s in the middle for damage', async (_, line) => {
    const path = join(makeTempDir(), 'events.ndjson');
    const log = await open(path);
    await log.beginEpoch(START);
    await appendFile(path, `${line}\n`);
    await log.append({ type: 'interrupted', epoch: 1, reason: 'SIGINT' });
    await expect(readEvents(path)).rejects.toMatchObject({ code: 'RESULTS_DAMAGED', details: { file: path, line: 2 } });
  });

  it('refuses an event that is not of its own form before it is written', async () => {
    const path = join(makeTempDir(), 'events.ndjson');
    const log = await open(path);
    await expect(log.append({ type: 'interrupted', epoch: 0, reason: 'x' })).rejects.toThrow('epoch');
    expect(await readFile(path, 'utf8')).toBe('');
  });

  it('tells its listeners, until they have heard enough', async () => {
    const log = await open(join(makeTempDir(), 'events.ndjson'));
    const heard: LoggedEvent[] = [];
    const stop = log.subscribe((event) => heard.push(event));
    await log.beginEpoch(START);
    stop();
    await log.append({ type: 'interrupted', epoch: 1, reason: 'x' });
    expect(heard.map(({ type }) => type)).toEqual(['epoch_started']);
  });

  it('keeps every acknowledged event of a process that is killed while it writes', async () => {
    const path = join(makeTempDir(), 'events.ndjson');
    const module = fileURLToPath(new URL('event-log.ts', import.meta.url));
    const code = `const { openEventLog } = await import(${JSON.stringify(module)}); const log = await openEventLog(process.argv[1]);
      await log.beginEpoch({ pid: 1, version: '0', commit: null, command: [] });
      for (;;) console.log(await log.beginAttempt({ shard: 's0000', worker: 'w', begin: 0, end: 1 }));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    let acknowledged = 0;
    child.stdout.on('data', (data: Buffer) => {
      acknowledged = Number(data.toString().trim().split('\n').at(-1));
      if (acknowledged >= 20) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const log = await open(path);
    expect(log.history.attempts.get('1-s0000')).toBeGreaterThanOrEqual(acknowledged);
    expect(await log.beginEpoch(START)).toBe(2);
  });

  it('survives the loss of its last bytes between two starts', async () => {
    const path = join(makeTempDir(), 'events.ndjson');
    const log = await open(path);
    await log.beginEpoch(START);
    await beginAttempt(log, 's0000');
    await truncate(path, (await readFile(path)).length - 5);
    const again = await open(path);
    expect(again.history).toMatchObject({ epoch: 1, attempts: new Map() });
  });
});

describe('the history', () => {
  const at = now().toISOString();
  const key = { epoch: 1, shard: 's0000', attempt: 1 };

  it('keeps the lowest fence of an attempt and the sums over the epochs', () => {
    const history = foldEvents([
      { at, type: 'shard_fenced', ...key, bytes: 100, reason: 'x' }, { at, type: 'shard_fenced', ...key, bytes: 80, reason: 'x' },
      { at, type: 'stage_timed', epoch: 1, stage: 'render', seconds: 2 }, { at, type: 'stage_timed', epoch: 2, stage: 'render', seconds: 1 },
      { at, type: 'idle', epoch: 1, cause: 'load', seconds: 4 }, { at, type: 'request_phase', epoch: 1, firstStepAt: 10, lastResultAt: 15 },
      { at, type: 'request_phase', epoch: 2, firstStepAt: 100, lastResultAt: 101 },
    ]);
    expect(history.fences.get('1-s0000-1')).toBe(80);
    expect(history.stageSeconds.get('render')).toBe(3);
    expect(history.idleSeconds.get('load')).toBe(4);
    expect(sumRequestPhases(history)).toBe(6);
  });

  it('knows which workers still lived at the end of the file', () => {
    const worker = { epoch: 1, worker: 'engine-0', pid: 7 };
    const history = foldEvents([
      { at, type: 'worker_started', role: 'engine', ...worker }, { at, type: 'worker_started', role: 'engine', ...worker, pid: 8 },
      { at, type: 'worker_ended', ...worker, exitCode: null, signal: 'SIGKILL' },
    ]);
    expect([...history.workers.values()].map(({ ended }) => ended?.signal)).toEqual(['SIGKILL', undefined]);
  });
});
