import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMemoryGroups } from './control-groups.ts';
import { Exhaustion } from './exhaustion.ts';
import { OomKills } from './oom-kills.ts';
import { startTestWorker, LOAD } from './testing/start-test-worker.ts';
import { makeRoot, V1_FILES, writeKills } from './testing/stand-in-groups.ts';
import { WorkerFailure } from './worker-failure.ts';

const below = (folder: string, files: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content]));

function makeCount() {
  const root = makeRoot({ 'proc/self/cgroup': '4:memory:/run\n0::/\n', ...below('sys/fs/cgroup/memory/run', V1_FILES) });
  const kills = new OomKills(findMemoryGroups(root).at(-1));
  return { kills, write: (count: number) => writeKills(join(root, 'sys/fs/cgroup/memory/run/memory.oom_control'), count) };
}

test.each([
  ['version 2', { 'proc/self/cgroup': '0::/user.slice/run.scope\n', 'sys/fs/cgroup/user.slice/run.scope/cgroup.procs': '' }, { version: 2, folder: '/sys/fs/cgroup/user.slice/run.scope' }],
  ['version 1', { 'proc/self/cgroup': '4:memory:/docker/abc\n0::/\n', 'sys/fs/cgroup/memory/docker/abc/cgroup.procs': '' }, { version: 1, folder: '/sys/fs/cgroup/memory/docker/abc' }],
  ['version 1, in a container that sees the host\'s path', { 'proc/self/cgroup': '4:memory:/docker/abc\n', 'sys/fs/cgroup/memory/cgroup.procs': '' }, { version: 1, folder: '/sys/fs/cgroup/memory' }],
])('finds the group of this process in %s', (_, files, { version, folder }) => {
  const root = makeRoot(files);
  expect(findMemoryGroups(root).at(-1)).toEqual({ version, folder: `${root}${folder}` });
});

test('a kill explains one end, and one before the worker started explains none', () => {
  const { kills, write } = makeCount();
  write(3);
  const mark = kills.mark();
  const claim = () => kills.claim(mark);
  expect(claim()).toBe(false);
  write(4);
  expect([claim(), claim()]).toEqual([true, false]);
  write(6);
  expect([claim(), claim(), claim()]).toEqual([true, true, false]);
});

test('of two workers on one count, the one that starts after a kill takes it from nobody, and neither explains the other\'s', () => {
  const { kills, write } = makeCount();
  const first = new Exhaustion({ kills });
  write(1);
  const second = new Exhaustion({ kills });
  expect(second.find()).toBeUndefined();
  expect(first.find()).toEqual({ what: 'the machine or its container has none left' });
  write(2);
  expect(second.find()).toEqual({ what: 'the machine or its container has none left' });
  expect(new Exhaustion({ kills }).find()).toBeUndefined();
});

test('where nothing counts, nothing is claimed', () => {
  expect(new OomKills(undefined).claim(0)).toBe(false);
  expect(new OomKills({ version: 2, folder: '/no/such/group' }).claim(0)).toBe(false);
});

async function endBySigkill(onKill: (write: (count: number) => void) => void) {
  const { kills, write } = makeCount();
  const removed: string[] = [];
  const { worker } = startTestWorker('swallows', { memoryGroup: { kills, remove: async () => { removed.push('group'); } } });
  await worker.hello;
  const reply = worker.request(LOAD).catch((thrown: unknown) => thrown);
  onKill(write);
  process.kill(worker.pid, 'SIGKILL');
  const failure = await reply;
  if (!(failure instanceof WorkerFailure)) throw new Error('the worker did not fail');
  expect(removed).toEqual(['group']);
  return failure.exit;
}

test('a SIGKILL that the kernel counts as out of memory is one', async () => {
  expect(await endBySigkill((write) => write(1))).toMatchObject({ signal: 'SIGKILL', exhausted: { what: 'the machine or its container has none left' }, how: 'SIGKILL by the kernel, out of memory: the machine or its container has none left; by which term is unknown' });
});

test('a SIGKILL that it does not count was sent by somebody', async () => {
  const exit = await endBySigkill(() => undefined);
  expect(exit).toMatchObject({ signal: 'SIGKILL', how: expect.stringContaining('not sent by Assay') });
  expect(exit?.exhausted).toBeUndefined();
});

test('a worker that is ended by Assay is not out of memory, whatever the count', async () => {
  const { kills, write } = makeCount();
  const { worker } = startTestWorker('happy', { memoryGroup: { kills, remove: async () => undefined } });
  await worker.hello;
  write(1);
  const exit = await worker.kill('enough');
  expect(exit).toMatchObject({ how: 'ended by Assay: enough' });
  expect(exit.exhausted).toBeUndefined();
});

test('a rank that the kernel killed makes an engine that died one that ran out of memory', async () => {
  const { kills, write } = makeCount();
  const { worker } = startTestWorker('loses_a_rank', { memoryGroup: { kills, remove: async () => undefined } });
  await worker.hello;
  write(1);
  await expect(worker.request(LOAD)).rejects.toMatchObject({ failure: { class: 'oom', message: expect.stringMatching(/^SIGKILL by the kernel.*EngineDeadError/) } });
});
