import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { readGroupLimits } from './control-group.ts';
import { isOwnProcess } from './own-processes.ts';
import { countNumaNodes, parseCpuList, readAllowedCpus, readInstructionSets } from './processor-facts.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';

/** A file system of these files alone. */
function makeRoot(files: Record<string, string>): string {
  const root = makeTempDir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

test('version 2: the tightest limit on the way up holds, and page cache counts as free', () => {
  const root = makeRoot({
    'proc/self/cgroup': '0::/user.slice/run.scope\n',
    'sys/fs/cgroup/user.slice/memory.max': `${8 * GIB}\n`, 'sys/fs/cgroup/user.slice/memory.current': `${5 * GIB}\n`, 'sys/fs/cgroup/user.slice/memory.stat': `anon 1\ninactive_file ${3 * GIB}\n`,
    'sys/fs/cgroup/user.slice/cpu.max': '150000 100000\n', 'sys/fs/cgroup/user.slice/run.scope/memory.max': 'max\n', 'sys/fs/cgroup/user.slice/run.scope/cpu.max': 'max 100000\n',
  });
  expect(readGroupLimits(root)).toEqual({ memoryBytes: 8 * GIB, freeBytes: 6 * GIB, cpus: 1.5 });
});

test('version 2 in a container: the group is the root itself, whatever path the host gives it', () => {
  const root = makeRoot({ 'proc/self/cgroup': '0::/../../kubepods/pod1\n', 'sys/fs/cgroup/memory.max': `${4 * GIB}\n`, 'sys/fs/cgroup/memory.current': `${GIB}\n`, 'sys/fs/cgroup/cpu.max': '400000 100000\n' });
  expect(readGroupLimits(root)).toEqual({ memoryBytes: 4 * GIB, freeBytes: 3 * GIB, cpus: 4 });
});

test('version 1: memory and quota have trees of their own', () => {
  const root = makeRoot({
    'proc/self/cgroup': '9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n',
    'sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': `${2 * GIB}\n`, 'sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes': `${GIB}\n`, 'sys/fs/cgroup/memory/docker/abc/memory.stat': `total_inactive_file ${GIB / 2}\n`,
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    'sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us': '200000\n', 'sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us': '100000\n',
  });
  expect(readGroupLimits(root)).toEqual({ memoryBytes: 2 * GIB, freeBytes: 1.5 * GIB, cpus: 2 });
});

test('without limits, or without control groups, nothing is limited', () => {
  expect(readGroupLimits(makeRoot({ 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/memory.max': 'max\n', 'sys/fs/cgroup/cpu.max': 'max 100000\n' }))).toEqual({});
  expect(readGroupLimits(makeRoot({ 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n', 'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' }))).toEqual({});
  expect(readGroupLimits(makeTempDir())).toEqual({});
});

test('the cores of the process\'s affinity are read, not those of the machine', () => {
  expect(readAllowedCpus(makeRoot({ 'proc/self/status': 'Name:\tnode\nCpus_allowed_list:\t0,2-4,7\n' }))).toEqual([0, 2, 3, 4, 7]);
  expect(parseCpuList('')).toEqual([]);
});

test('instruction sets that matter to an engine are read, on Intel and on Arm', () => {
  expect(readInstructionSets(makeRoot({ 'proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu sse2 avx avx2 avx512f avx512_bf16 amx_bf16 amx_tile\n' }))).toEqual(['avx', 'avx2', 'avx512f', 'avx512_bf16', 'amx_tile', 'amx_bf16']);
  expect(readInstructionSets(makeRoot({ 'proc/cpuinfo': 'Features\t: fp asimd i8mm bf16 sve\n' }))).toEqual(['asimd', 'bf16', 'i8mm', 'sve']);
  expect(readInstructionSets(makeTempDir())).toEqual([]);
});

test('only NUMA nodes with a core of ours count', () => {
  const root = makeRoot({ 'sys/devices/system/node/node0/cpulist': '0-3\n', 'sys/devices/system/node/node1/cpulist': '4-7\n', 'sys/devices/system/node/node2/cpulist': '\n' });
  expect([countNumaNodes([0, 1], root), countNumaNodes([3, 4], root), countNumaNodes([0], makeTempDir())]).toEqual([1, 2, 1]);
});

test('a process is ours where it descends from this one', () => {
  const root = makeRoot({ 'proc/30/status': 'PPid:\t20\n', 'proc/20/status': 'PPid:\t10\n', 'proc/40/status': 'PPid:\t1\n' });
  expect([10, 20, 30, 40, 99].map((pid) => isOwnProcess(pid, 10, root))).toEqual([true, true, true, false, false]);
});
