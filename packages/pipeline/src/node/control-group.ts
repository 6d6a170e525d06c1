// Limits of the control group that this process runs in, of both versions, each group on the way up to the root included: the
// tightest holds.
import { listGroupFolders, parseGroupPaths } from '@assay/workers';
import { readText } from './read-text.ts';

export interface GroupLimits {
  /** The limit, where one is set. */
  memoryBytes?: number;
  /** What that limit leaves: page cache that the kernel would give up counts as free. */
  freeBytes?: number;
  /** Cores' worth of time, as 1.5. */
  cpus?: number;
}

interface LimitFiles {
  limit: string;
  usage: string;
  cache: RegExp;
}

const MEMORY_V2: LimitFiles = { limit: 'memory.max', usage: 'memory.current', cache: /^inactive_file (\d+)$/m };
const MEMORY_V1: LimitFiles = { limit: 'memory.limit_in_bytes', usage: 'memory.usage_in_bytes', cache: /^total_inactive_file (\d+)$/m };
// Version 1 writes a number near 2^63 for "no limit".
const NO_LIMIT_BYTES = 2 ** 60;

/** `root` stands for the file system's root in tests. */
export function readGroupLimits(root = ''): GroupLimits {
  const paths = parseGroupPaths(readText(`${root}/proc/self/cgroup`));
  const base = `${root}/sys/fs/cgroup`;
  const memory = [...readMemory(listGroupFolders(base, paths.get('')), MEMORY_V2), ...readMemory(listGroupFolders(`${base}/memory`, paths.get('memory')), MEMORY_V1)];
  const cpus = [
    ...listGroupFolders(base, paths.get('')).map((group) => readQuota(readText(`${group}/cpu.max`))),
    ...['cpu', 'cpu,cpuacct'].flatMap((name) => listGroupFolders(`${base}/${name}`, paths.get('cpu')))
      .map((group) => readQuota(`${readText(`${group}/cpu.cfs_quota_us`).trim()} ${readText(`${group}/cpu.cfs_period_us`)}`)),
  ].filter((quota) => quota !== undefined);
  return {
    ...(memory.length > 0 ? { memoryBytes: Math.min(...memory.map(({ limit }) => limit)), freeBytes: Math.min(...memory.map(({ free }) => free)) } : {}),
    ...(cpus.length > 0 ? { cpus: Math.min(...cpus) } : {}),
  };
}

function readMemory(groups: readonly string[], { limit, usage, cache }: LimitFiles): { limit: number; free: number }[] {
  return groups.flatMap((group) => {
    const bytes = Number.parseInt(readText(`${group}/${limit}`), 10);
    if (!(bytes >= 0 && bytes < NO_LIMIT_BYTES)) return [];
    const used = Number.parseInt(readText(`${group}/${usage}`), 10) || 0;
    const reclaimable = Number(cache.exec(readText(`${group}/memory.stat`))?.[1] ?? 0);
    return [{ limit: bytes, free: Math.max(0, bytes - Math.max(0, used - reclaimable)) }];
  });
}

/** "200000 100000": microseconds of each period; "max" and −1 are no limit. */
function readQuota(text: string): number | undefined {
  const [quota = NaN, period = NaN] = text.trim().split(/\s+/).map(Number);
  return quota > 0 && period > 0 ? quota / period : undefined;
}
