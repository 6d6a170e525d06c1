// What this node has for a run: the cores this process may use, memory it can still give, GPUs. Read, never guessed.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { promisify } from 'node:util';
import { KIB, MIB } from '@assay/domain';
import type { GpuFacts, NodeFacts } from '@assay/planner';

const QUERY_TIMEOUT_MS = 20_000;

export async function readNodeFacts(env: Readonly<Record<string, string | undefined>>): Promise<NodeFacts> {
  return { cpus: readAllowedCpus(), memoryBytes: readAvailableMemory(), gpus: selectVisible(await readGpus(), env['CUDA_VISIBLE_DEVICES']) };
}

/** Cores of this process's affinity: a container or taskset may give it fewer than the machine has. */
export function readAllowedCpus(status = readText('/proc/self/status')): number[] {
  const list = /^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1];
  if (!list) return Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, place) => first + place);
  });
}

/** What the kernel says is available, or what the control group leaves of its limit where that is less. */
function readAvailableMemory(): number {
  const available = Number(/^MemAvailable:\s*(\d+)/m.exec(readText('/proc/meminfo'))?.[1] ?? 0) * KIB || freemem();
  const limits = [
    ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory.current'],
    ['/sys/fs/cgroup/memory/memory.limit_in_bytes', '/sys/fs/cgroup/memory/memory.usage_in_bytes'],
  ] as const;
  const left = limits.map(([limit, used]) => Number.parseInt(readText(limit), 10) - Number.parseInt(readText(used), 10));
  return Math.min(available, ...left.filter((bytes) => Number.isFinite(bytes) && bytes > 0));
}

async function readGpus(): Promise<GpuFacts[]> {
  const query = ['--query-gpu=uuid,name,memory.total,memory.free', '--format=csv,noheader,nounits'];
  try {
    const { stdout } = await promisify(execFile)('nvidia-smi', query, { timeout: QUERY_TIMEOUT_MS });
    return stdout.trim().split('\n').filter(Boolean).map((line) => {
      const [id = '', name = '', total = '0', free = '0'] = line.split(',').map((cell) => cell.trim());
      return { id, name, memoryBytes: Number(total) * MIB, freeBytes: Number(free) * MIB };
    });
  } catch {
    // No driver, no GPUs.
    return [];
  }
}

/** The user's own choice of devices holds: by UUID, its beginning, or its number. Empty means none. */
export function selectVisible(gpus: readonly GpuFacts[], visible: string | undefined): GpuFacts[] {
  if (visible === undefined) return [...gpus];
  const wanted = visible.split(',').map((name) => name.trim()).filter(Boolean);
  return wanted.flatMap((name) => gpus.find(({ id }, number) => String(number) === name || id === name || id.startsWith(name)) ?? []);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
