import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIB } from '@assay/domain';
import { describe, expect, test } from 'vitest';
import { Exhaustion } from './exhaustion.ts';
import { MemoryGroups } from './memory-groups.ts';
import { startTestWorker, LOAD } from './testing/start-test-worker.ts';
import { makeDoor, makeRoot, V1_FILES, V2_FILES } from './testing/stand-in-groups.ts';
import { WorkerFailure } from './worker-failure.ts';

const below = (folder: string, files: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content]));

const VERSIONS = {
  'version 1': {
    files: { ...V1_FILES, 'memory.failcnt': '7\n', 'memory.memsw.failcnt': '0\n', 'memory.max_usage_in_bytes': `${2 * GIB}\n` },
    place: 'sys/fs/cgroup/memory/run', limit: 'memory.limit_in_bytes', proc: '4:memory:/run\n0::/\n', peak: 'memory.max_usage_in_bytes',
    kill: ['memory.oom_control', 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n'], reach: ['memory.failcnt', '9\n'],
  },
  'version 2': {
    files: { ...V2_FILES, 'memory.events.local': 'low 0\nmax 7\noom 0\noom_kill 0\n', 'memory.peak': `${2 * GIB}\n`, 'cgroup.subtree_control': 'memory\n' },
    place: 'sys/fs/cgroup/run.scope', limit: 'memory.max', proc: '0::/run.scope\n', peak: 'memory.peak',
    kill: ['memory.events', 'low 0\noom 1\noom_kill 1\n'], reach: ['memory.events.local', 'low 0\nmax 9\noom 1\noom_kill 0\n'],
  },
} as const;

describe.each(Object.entries(VERSIONS))('%s of control groups', (_, { files, place, limit, proc, peak, kill, reach }) => {
  /** A worker of 5 GiB in a group of 8 GiB. */
  function makeWorkerGroup() {
    const root = makeRoot({ 'proc/self/cgroup': proc, ...below(place, { ...files, [limit]: `${8 * GIB}\n` }) });
    const groups = new MemoryGroups({ runId: 'run-1', root, door: makeDoor(files) });
    const group = groups.make('engine-0', 5 * GIB);
    const own = join(root, place, 'assay-run-1-engine-0');
    const write = (folder: string, [name, content]: readonly [string, string]) => writeFileSync(join(folder, name), content);
    return { group, exhaustion: new Exhaustion(group), own, around: join(root, place), write };
  }

  test('the limit is blamed where it was reached', () => {
    const { exhaustion, own, write } = makeWorkerGroup();
    write(own, reach);
    write(own, kill);
    expect(exhaustion.find()).toEqual({ what: 'the 5.00 GiB of limits.memory are used up' });
  });

  test('the group around it is blamed where that was reached and the limit was not, with what the worker had', () => {
    const { exhaustion, own, around, write } = makeWorkerGroup();
    write(around, reach);
    write(own, kill);
    expect(exhaustion.find()).toEqual({
      what: 'the 8.00 GiB of the control group around it are used up, before the 5.00 GiB of limits.memory are', outside: { limitBytes: 5 * GIB, peakBytes: 2 * GIB },
    });
  });

  test('the machine is blamed where no limit was reached', () => {
    const { exhaustion, own, write } = makeWorkerGroup();
    write(own, kill);
    expect(exhaustion.find()).toEqual({
      what: 'the machine or its container has none left, before the 5.00 GiB of limits.memory are', outside: { limitBytes: 5 * GIB, peakBytes: 2 * GIB },
    });
  });

  test('the limit is blamed where the kernel does not say what was reached', () => {
    const { group, own, write } = makeWorkerGroup();
    for (const name of ['memory.failcnt', 'memory.memsw.failcnt', 'memory.events.local', peak]) write(own, [name, '']);
    const exhaustion = new Exhaustion(group);
    write(own, kill);
    expect(exhaustion.find()).toEqual({ what: 'the 5.00 GiB of limits.memory are used up' });
  });

  test('a worker\'s failure carries what was used up, whether it died or lost a rank', async () => {
    for (const program of ['swallows', 'loses_a_rank']) {
      const { group, own, around, write } = makeWorkerGroup();
      const { worker } = startTestWorker(program, { memoryGroup: group });
      await worker.hello;
      write(around, reach);
      write(own, kill);
      const reply = worker.request(LOAD).catch((thrown: unknown) => thrown);
      if (program === 'swallows') process.kill(worker.pid, 'SIGKILL');
      const failure = await reply;
      if (!(failure instanceof WorkerFailure)) throw new Error('the worker did not fail');
      expect(failure.exit?.how ?? failure.message).toContain('SIGKILL by the kernel, out of memory: the 8.00 GiB of the control group around it are used up');
      expect(failure.exhausted?.outside).toEqual({ limitBytes: 5 * GIB, peakBytes: 2 * GIB });
    }
  });
});

test('version 1 does not count a limit that swap shares: who was at theirs is told by the most that they held', () => {
  const { files, place, proc, kill, peak, limit } = VERSIONS['version 1'];
  const blame = (full: 'own' | 'around') => {
    const root = makeRoot({ 'proc/self/cgroup': proc, ...below(place, { ...files, [limit]: `${8 * GIB}\n` }) });
    const group = new MemoryGroups({ runId: 'run-1', root, door: makeDoor(files) }).make('engine-0', 5 * GIB);
    const exhaustion = new Exhaustion(group);
    const folders = { around: join(root, place), own: join(root, place, 'assay-run-1-engine-0') };
    writeFileSync(join(folders[full], peak), String(full === 'own' ? 5 * GIB - 4096 : 8 * GIB));
    writeFileSync(join(folders.own, kill[0]), kill[1]);
    return exhaustion.find()?.what;
  };
  expect(blame('own')).toBe('the 5.00 GiB of limits.memory are used up');
  expect(blame('around')).toBe('the 8.00 GiB of the control group around it are used up, before the 5.00 GiB of limits.memory are');
});

test('how much a worker had is left open where the kernel does not tell', () => {
  const { files, place, proc, kill, peak } = VERSIONS['version 2'];
  const { [peak]: _, ...fewer } = files;
  const root = makeRoot({ 'proc/self/cgroup': proc, ...below(place, fewer) });
  const exhaustion = new Exhaustion(new MemoryGroups({ runId: 'run-1', root, door: makeDoor(fewer) }).make('engine-0', 5 * GIB));
  writeFileSync(join(root, place, 'assay-run-1-engine-0', kill[0]), kill[1]);
  expect(exhaustion.find()?.outside).toEqual({ limitBytes: 5 * GIB, peakBytes: undefined });
});
