import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { MemoryGroups } from './memory-groups.ts';
import { startTestWorker } from './testing/start-test-worker.ts';
import { makeDoor, makeRoot, V1_FILES, V2_FILES, writeKills } from './testing/stand-in-groups.ts';

const VERSION_1 = { 'proc/self/cgroup': '4:memory:/run\n0::/\n', 'sys/fs/cgroup/memory/run/cgroup.procs': '1\n' };
/** A login's scope below a slice that this user may make groups in. */
const VERSION_2 = {
  'proc/self/cgroup': '0::/user.slice/app.slice/run.scope\n',
  'sys/fs/cgroup/user.slice/app.slice/cgroup.procs': '', 'sys/fs/cgroup/user.slice/app.slice/cgroup.subtree_control': 'memory pids\n',
  'sys/fs/cgroup/user.slice/app.slice/run.scope/cgroup.procs': `1\n${process.pid}\n`, 'sys/fs/cgroup/user.slice/app.slice/run.scope/memory.max': 'max\n',
};
/** A group that was delegated: this process is alone in it. */
const DELEGATED = {
  'proc/self/cgroup': '0::/run.scope\n', 'sys/fs/cgroup/run.scope/cgroup.procs': `${process.pid}\n`, 'sys/fs/cgroup/run.scope/cgroup.controllers': 'cpu memory\n',
  'sys/fs/cgroup/run.scope/cgroup.subtree_control': '', 'sys/fs/cgroup/run.scope/memory.max': `${8 * GIB}\n`,
};

function openGroups(files: Readonly<Record<string, string>>, groupFiles: Readonly<Record<string, string>>) {
  const root = makeRoot(files);
  const door = makeDoor(groupFiles);
  const groups = new MemoryGroups({ runId: 'run-1', root, door });
  return { root, door, groups, read: (path: string) => readFileSync(join(root, 'sys/fs/cgroup', path), 'utf8').trim() };
}

test('version 1: a worker\'s group lies below that of this process, swap limited too', async () => {
  const { root, groups, read } = openGroups(VERSION_1, V1_FILES);
  const group = groups.make('engine-0', 5 * GIB);
  const folder = 'memory/run/assay-run-1-engine-0';
  const parent = join(root, 'sys/fs/cgroup/memory/run');
  expect(group.limit).toEqual({
    bytes: 5 * GIB, membersFile: join(root, 'sys/fs/cgroup', folder, 'cgroup.procs'), group: { version: 1, folder: join(root, 'sys/fs/cgroup', folder) }, around: [{ version: 1, folder: parent }],
  });
  expect([read(`${folder}/memory.limit_in_bytes`), read(`${folder}/memory.memsw.limit_in_bytes`)]).toEqual([String(5 * GIB), String(5 * GIB)]);
  await group.remove();
  expect(existsSync(join(root, 'sys/fs/cgroup', folder))).toBe(false);
});

test('version 1 without swap accounting limits memory alone', () => {
  const { 'memory.memsw.limit_in_bytes': _, ...files } = V1_FILES;
  const { root, groups } = openGroups(VERSION_1, files);
  groups.make('engine-0', 5 * GIB);
  expect(existsSync(join(root, 'sys/fs/cgroup/memory/run/assay-run-1-engine-0/memory.memsw.limit_in_bytes'))).toBe(false);
});

test('version 2: a worker\'s group lies beside that of this process where the one above hands memory down', () => {
  const { groups, read } = openGroups(VERSION_2, V2_FILES);
  groups.make('engine-1', 3 * GIB);
  const folder = 'user.slice/app.slice/assay-run-1-engine-1';
  expect([read(`${folder}/memory.max`), read(`${folder}/memory.swap.max`), read(`${folder}/memory.oom.group`)]).toEqual([String(3 * GIB), '0', '1']);
});

test('version 2, delegated: this process moves into a leaf, so that its group may have others below it, and back at the end', () => {
  const { root, groups, read } = openGroups(DELEGATED, V2_FILES);
  groups.make('engine-0', 3 * GIB);
  expect(read('run.scope/assay-run-1-main/cgroup.procs')).toBe(String(process.pid));
  expect([read('run.scope/cgroup.subtree_control'), read('run.scope/assay-run-1-engine-0/memory.max')]).toEqual(['+memory', String(3 * GIB)]);
  groups.close();
  expect([read('run.scope/cgroup.subtree_control'), read('run.scope/cgroup.procs')]).toEqual(['-memory', String(process.pid)]);
  expect(existsSync(join(root, 'sys/fs/cgroup/run.scope/assay-run-1-main'))).toBe(false);
});

test.each([
  ['no memory is counted', { 'proc/self/cgroup': '0::/\n' }, 'this system has no memory control group'],
  ['nobody hands memory down', { ...VERSION_2, 'sys/fs/cgroup/user.slice/app.slice/cgroup.subtree_control': 'pids\n' }, /^no group above .*run\.scope gives memory/],
  ['a group beside this one would be free of its limit', { ...VERSION_2, 'sys/fs/cgroup/user.slice/app.slice/run.scope/memory.max': `${GIB}\n` }, /run\.scope has a memory limit/],
])('is refused where %s', (_, files, problem) => {
  expect(() => openGroups(files, V2_FILES)).toThrow(expect.objectContaining({ code: 'CGROUP_UNAVAILABLE', details: { problem: expect.stringMatching(problem) } }));
});

test('is refused where the kernel does not let one be made, and says which file', () => {
  const root = makeRoot(VERSION_1);
  const door = { make: () => { throw Object.assign(new Error('EROFS'), { code: 'EROFS', path: '/x/assay-run-1-trial' }); }, remove: () => undefined };
  expect(() => new MemoryGroups({ runId: 'run-1', root, door })).toThrow(expect.objectContaining({ code: 'CGROUP_UNAVAILABLE', details: { problem: 'assay-run-1-trial: EROFS' } }));
});

/** The kernel lists a process in one group: it is no longer in the one that it was moved out of. */
function openDelegated(prepare: (scope: string) => void, makeAlso: (folder: string) => void = () => undefined) {
  const root = makeRoot(DELEGATED);
  const scope = join(root, 'sys/fs/cgroup/run.scope');
  prepare(scope);
  const { make, remove } = makeDoor(V2_FILES);
  const door = {
    make: (folder: string) => {
      makeAlso(folder);
      make(folder);
      writeFileSync(join(scope, 'cgroup.procs'), '');
    },
    remove,
  };
  return { scope, open: () => new MemoryGroups({ runId: 'run-1', root, door }) };
}

test('this process is back where it was when its group does not hand memory down after all', () => {
  const { scope, open } = openDelegated((folder) => {
    // A write to it fails.
    rmSync(join(folder, 'cgroup.subtree_control'));
    mkdirSync(join(folder, 'cgroup.subtree_control'));
  });
  expect(open).toThrow(expect.objectContaining({ code: 'CGROUP_UNAVAILABLE', details: { problem: 'cgroup.subtree_control: EISDIR' } }));
  expect(readFileSync(join(scope, 'cgroup.procs'), 'utf8')).toBe(String(process.pid));
  expect(existsSync(join(scope, 'assay-run-1-main'))).toBe(false);
});

test('this process is back where it was when no group can be made below it', () => {
  const { scope, open } = openDelegated(() => undefined, (folder) => {
    if (folder.endsWith('-trial')) throw new Error('no room for one more');
  });
  expect(open).toThrow(expect.objectContaining({ code: 'CGROUP_UNAVAILABLE', details: { problem: 'no room for one more' } }));
  expect([readFileSync(join(scope, 'cgroup.subtree_control'), 'utf8'), readFileSync(join(scope, 'cgroup.procs'), 'utf8')]).toEqual(['-memory', String(process.pid)]);
  expect(existsSync(join(scope, 'assay-run-1-main'))).toBe(false);
});

test('what a run that was killed left is swept: this run\'s at once, others\' when they are old, and nobody else\'s', () => {
  const root = makeRoot(VERSION_1);
  const folder = (name: string) => join(root, 'sys/fs/cgroup/memory/run', name);
  const names = { own: 'assay-run-1-engine-0', young: 'assay-run-2-engine-0', old: 'assay-run-3-engine-0', busy: 'assay-run-4-engine-0', foreign: 'docker' };
  for (const name of Object.values(names)) {
    mkdirSync(folder(name));
    writeFileSync(join(folder(name), 'cgroup.procs'), name === names.busy ? '12\n' : '');
    if (name !== names.young) utimesSync(folder(name), 1, 1);
  }
  const open = () => new MemoryGroups({ runId: 'run-1', root, door: makeDoor(V1_FILES) });
  open();
  expect(Object.values(names).filter((name) => existsSync(folder(name)))).toEqual([names.young, names.busy, names.foreign]);
});

test('a group that could not be removed is taken again, and what was killed in it before explains nothing', () => {
  const { root, groups } = openGroups(VERSION_1, V1_FILES);
  groups.make('engine-0', GIB);
  const count = join(root, 'sys/fs/cgroup/memory/run/assay-run-1-engine-0/memory.oom_control');
  writeKills(count, 1);
  const { kills } = groups.make('engine-0', GIB);
  const mark = kills.mark();
  expect(kills.claim(mark)).toBe(false);
  writeKills(count, 2);
  expect(kills.claim(mark)).toBe(true);
});

test('a worker enters its group before it runs, and the group goes when it has ended', async () => {
  const { groups } = openGroups(VERSION_1, V1_FILES);
  const group = groups.make('engine-0', GIB);
  const { worker } = startTestWorker('happy', { memoryGroup: group });
  await worker.hello;
  expect(readFileSync(group.limit!.membersFile, 'utf8')).toBe('0');
  await worker.stop({ graceMs: 5_000 });
  expect(existsSync(group.limit!.membersFile)).toBe(false);
});

test('a worker that cannot enter its group does not start', async () => {
  const { groups } = openGroups(VERSION_1, V1_FILES);
  const { kills, limit } = groups.make('engine-0', GIB);
  const { worker } = startTestWorker('happy', { memoryGroup: { limit: { ...limit!, membersFile: '/no/such/group/cgroup.procs' }, kills, remove: async () => undefined } });
  await expect(worker.hello).rejects.toMatchObject({ code: 'WORKER_START', details: { problem: expect.stringContaining('/no/such/group/cgroup.procs: No such file or directory') } });
});
