import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRunPaths, readRunDirectory } from '@assay/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeSampleRun, REQUESTS, type SampleRun } from '../testing/sample-run.ts';
import { describeRun } from './describe-run.ts';
import { renderStatus } from './render-status.ts';

const OPEN = [3, 47, 60, 99];

let folder: string;
let sample: SampleRun;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-status-'));
  sample = await makeSampleRun(join(folder, 'run'), Array.from({ length: REQUESTS }, (_, row) => row).filter((row) => !OPEN.includes(row)));
});
afterEach(async () => {
  await sample.events.close();
  sample.run.close();
  await rm(folder, { recursive: true });
});

const describe = async (inSeconds = 0) => describeRun(await readRunDirectory(sample.run.dir), new Date(Date.now() + inSeconds * 1000));

test('the requests that hang are named, with their worker and age', async () => {
  const { open, requests, tasks, shards, state, alive } = await describe(60);
  expect(requests).toEqual({ total: 100, final: 96, duplicates: 0 });
  expect(open).toMatchObject({ total: 4, waiting: 0 });
  expect(open?.running.map(({ task, ordinal }) => `${task} ${ordinal}`)).toEqual(['first 3', 'first 47', 'second 10', 'second 49']);
  expect(open?.running.every(({ worker, shard, ageSeconds }) => worker === 'engine-0' && shard === 's0000' && ageSeconds >= 60)).toBe(true);
  expect(tasks).toEqual([{ task: 'first', requests: 50, final: 48, scored: false }, { task: 'second', requests: 50, final: 48, scored: false }]);
  expect(shards).toEqual({ total: 1, done: 0, running: 1, failedAttempts: 0 });
  expect({ state, alive }).toEqual({ state: 'running', alive: true });
});

test('a run whose process is gone is interrupted, whatever its last event says', async () => {
  await sample.events.append({ type: 'drain_started', epoch: 1 });
  await sample.events.append({ type: 'epoch_started', epoch: 1, pid: await pidOfTheDead(), version: '0.0.0', commit: null, command: ['assay', 'run'] });
  const status = await describe();
  expect(status).toMatchObject({ state: 'interrupted', alive: false, draining: false, ended: { code: 'INTERRUPTED' }, shards: { running: 0 } });
  const text = renderStatus(status);
  expect(text).toContain('state      interrupted: the same command resumes it\nbecause    its process is gone without having said why');
  expect(text.replace('0 running', '')).not.toContain('running');
});

test('the manifest decides whether a run is sealed, not its last event', async () => {
  const { manifest } = buildRunPaths(sample.run.dir);
  await writeFile(manifest, '{}');
  expect((await describe()).state).toBe('sealed');
  await sample.events.append({ type: 'state_changed', epoch: 1, machine: 'run', from: 'scoring', to: 'sealed' });
  await rm(manifest);
  expect(await describe()).toMatchObject({ state: 'interrupted', ended: { message: 'its manifest.json was taken away' } });
});

test('a run that was told to end says that it drains', async () => {
  await sample.events.append({ type: 'drain_started', epoch: 1 });
  const status = await describe();
  expect(status).toMatchObject({ state: 'running', draining: true });
  expect(renderStatus(status)).toContain('running, draining: requests in the engines finish');
});

test('processes are listed while they live, with their role', async () => {
  const child = spawn('sleep', ['60']);
  try {
    await sample.events.append({ type: 'worker_started', epoch: 1, worker: 'engine-0', role: 'engine', pid: child.pid as number });
    await sample.events.append({ type: 'worker_started', epoch: 1, worker: 'harness', role: 'harness', pid: 2 ** 22 + 1 });
    expect((await describe()).processes).toEqual([{ role: 'run', name: 'run', pid: process.pid }, { role: 'engine', name: 'engine-0', pid: child.pid }]);
  } finally {
    const ended = new Promise((resolve) => { child.once('exit', resolve); });
    child.kill('SIGKILL');
    await ended;
  }
  expect((await describe()).processes.map(({ role }) => role)).toEqual(['run']);
});

test('a shard that was withdrawn is not with its worker any more', async () => {
  await sample.events.append({ type: 'shard_fenced', epoch: 1, shard: 's0000', attempt: 1, bytes: 0, reason: 'stalled' });
  const { open, requests } = await describe();
  expect(open).toMatchObject({ total: 100, running: [], waiting: 100 });
  expect(requests?.final).toBe(0);
});

test('in strict the results of a shard count when it is whole, as they do for the run itself', async () => {
  const rows = Array.from({ length: REQUESTS }, (_, row) => row);
  const strict = await makeSampleRun(join(folder, 'strict'), rows, { determinism: 'strict' });
  const count = async () => (await describeRun(await readRunDirectory(strict.run.dir), new Date())).requests?.final;
  try {
    expect(await count()).toBe(0);
    const facts = { requests: REQUESTS, seconds: 1, promptTokens: 1, cachedTokens: 0, newTokens: 1, steps: 1, batch: { median: 1, max: 1 }, peakBytes: 1 };
    await strict.events.append({ type: 'shard_done', epoch: 1, shard: 's0000', attempt: 1, ...facts });
    expect(await count()).toBe(REQUESTS);
  } finally {
    await strict.events.close();
    strict.run.close();
  }
});

test('a run that failed says why', async () => {
  await sample.events.append({ type: 'failed', epoch: 1, code: 'PROBE_OOM', message: 'the model does not fit' });
  expect((await describe()).ended).toEqual({ code: 'PROBE_OOM', message: 'the model does not fit' });
});

test('for people: state, progress, and what is open', async () => {
  const text = renderStatus(await describe(60));
  expect(text).toContain('requests   96/100 final (96 %): ok 96');
  const twelfth = { ...(await describe(60)).requests!, total: 12, final: 1 };
  expect(renderStatus({ ...(await describe(60)), requests: twelfth })).toContain('1/12 final (8.3 %)');
  expect(text).toMatch(/open {7}first #3 {2}6\d s with engine-0 in s0000/);
});

async function pidOfTheDead(): Promise<number> {
  const child = spawn('true');
  await new Promise((resolve) => { child.once('exit', resolve); });
  return child.pid as number;
}
