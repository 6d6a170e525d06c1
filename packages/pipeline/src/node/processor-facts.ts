// Cores, NUMA nodes and instruction sets that this process may use. `root` stands for the file system's root in tests.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readText } from './read-text.ts';

/** Those that choose an engine's kernels on CPU, as /proc/cpuinfo spells them; the second row is Arm's. */
const INSTRUCTION_SETS = [
  'avx', 'avx2', 'fma', 'avx512f', 'avx512bw', 'avx512vl', 'avx512_vnni', 'avx512_bf16', 'avx512_fp16', 'amx_tile', 'amx_bf16', 'amx_int8', 'avx_vnni',
  'asimd', 'asimddp', 'bf16', 'i8mm', 'sve',
];

/** Cores of this process's affinity: a container or taskset may give it fewer than the machine has. */
export function readAllowedCpus(root = ''): number[] {
  const list = /^Cpus_allowed_list:\s*(.*)$/m.exec(readText(`${root}/proc/self/status`))?.[1];
  return list ? parseCpuList(list) : Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
}

/** "0,2-4" as the kernel writes it. */
export function parseCpuList(list: string): number[] {
  return list.trim().split(',').filter(Boolean).flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, place) => first + place);
  });
}

export function readInstructionSets(root = ''): string[] {
  const flags = new Set(/^(?:flags|Features)\s*:\s*(.*)$/m.exec(readText(`${root}/proc/cpuinfo`))?.[1]?.split(/\s+/));
  return INSTRUCTION_SETS.filter((name) => flags.has(name));
}

/** NUMA nodes that hold one of `cpus`; 1 where the kernel knows of none. */
export function countNumaNodes(cpus: readonly number[], root = ''): number {
  const folder = `${root}/sys/devices/system/node`;
  const nodes = listFolder(folder).filter((name) => /^node\d+$/.test(name));
  const used = nodes.filter((name) => parseCpuList(readText(`${folder}/${name}/cpulist`)).some((cpu) => cpus.includes(cpu)));
  return Math.max(1, used.length);
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
