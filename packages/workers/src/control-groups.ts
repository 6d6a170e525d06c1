// The memory control groups of the kernel, of both versions: which one this process is in, and which files of a group say what.
import { existsSync, readFileSync } from 'node:fs';

export interface ControlGroup {
  version: 1 | 2;
  folder: string;
}

/** How folders of the kernel are made and removed; a folder that stands in for them needs more. */
export interface FolderDoor {
  make(folder: string): void;
  remove(folder: string): void;
}

interface GroupFiles {
  /** Holds the line "oom_kill N". */
  kills: string;
  limit: string;
  /** Files of which each counts, in the line that this fits, how often the group's own limit was reached. They add up. `areAll`: none is left out. */
  hits: { files: readonly string[]; line: RegExp; areAll: boolean };
  /** The most that it ever held. */
  peak: string;
  /** File and content, in the order in which they are written; but for the limit, those that a kernel lacks are left out. */
  settings(bytes: number): readonly (readonly [file: string, content: string])[];
}

export const GROUP_FILES: Readonly<Record<ControlGroup['version'], GroupFiles>> = {
  1: {
    kills: 'memory.oom_control',
    limit: 'memory.limit_in_bytes',
    // Where swap has the same limit, it is reached first, and recent kernels do not count that.
    hits: { files: ['memory.failcnt', 'memory.memsw.failcnt'], line: /^(\d+)$/m, areAll: false },
    peak: 'memory.max_usage_in_bytes',
    // Memory and swap together may not be below memory alone.
    settings: (bytes) => [['memory.limit_in_bytes', String(bytes)], ['memory.memsw.limit_in_bytes', String(bytes)]],
  },
  2: {
    kills: 'memory.events',
    limit: 'memory.max',
    // Without ".local" the groups below it count as well.
    hits: { files: ['memory.events.local'], line: /^oom (\d+)$/m, areAll: true },
    peak: 'memory.peak',
    // A worker is of no use without one of its ranks: they end together.
    settings: (bytes) => [['memory.max', String(bytes)], ['memory.swap.max', '0'], ['memory.oom.group', '1']],
  },
};

/** Undefined where the kernel does not tell. */
export function countLimitHits({ version, folder }: ControlGroup): number | undefined {
  const { files, line } = GROUP_FILES[version].hits;
  const counts = files.map((file) => line.exec(readGroupFile(`${folder}/${file}`))?.[1]).filter((count) => count !== undefined);
  return counts.length > 0 ? counts.reduce((sum, count) => sum + Number(count), 0) : undefined;
}

/** Whether it was reached since the hits were counted, or, where these do not tell, ever. Undefined where nothing does. */
export function hasReachedLimit(group: ControlGroup, hitsBefore: number | undefined): boolean | undefined {
  const hits = countLimitHits(group);
  if (hits !== undefined && hits > (hitsBefore ?? hits)) return true;
  if (hits !== undefined && GROUP_FILES[group.version].hits.areAll) return false;
  const [limit, peak] = [readLimitBytes(group), readPeakBytes(group)];
  return limit === undefined || peak === undefined ? undefined : peak >= limit - SLACK_BYTES;
}

/** Undefined where there is none. */
export const readLimitBytes = ({ version, folder }: ControlGroup): number | undefined => readBytes(`${folder}/${GROUP_FILES[version].limit}`);

/** Undefined where the kernel does not tell. */
export const readPeakBytes = ({ version, folder }: ControlGroup): number | undefined => readBytes(`${folder}/${GROUP_FILES[version].peak}`);

function readBytes(path: string): number | undefined {
  const bytes = Number.parseInt(readGroupFile(path), 10);
  return Number.isFinite(bytes) ? bytes : undefined;
}

// The kernel charges pages in batches: the last of them may not fit.
const SLACK_BYTES = 2 ** 20;

/** The file that lists a group's processes, and that takes in the one whose number is written to it (0: the writer). */
export const MEMBERS_FILE = 'cgroup.procs';

/** The groups that this process is in, outermost first; empty where the kernel counts no memory. `root` stands for the file system's. */
export function findMemoryGroups(root = ''): ControlGroup[] {
  const paths = parseGroupPaths(readGroupFile(`${root}/proc/self/cgroup`));
  const version = paths.has('memory') ? 1 : 2;
  const base = `${root}/sys/fs/cgroup${version === 1 ? '/memory' : ''}`;
  return listGroupFolders(base, paths.get(version === 1 ? 'memory' : '')).filter((folder) => existsSync(`${folder}/${MEMBERS_FILE}`)).map((folder) => ({ version, folder }));
}

/** Path of a process's group by controller, from /proc/<pid>/cgroup; version 2 has one for all, under "". */
export function parseGroupPaths(text: string): Map<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return controllers === undefined || path === undefined ? [] : controllers.split(',').map((name) => [name, path] as const);
  });
  return new Map(lines);
}

/** Folders from the mount point down to the group. In a container the path may be the host's: not all of them need be there. */
export function listGroupFolders(base: string, path = '/'): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  return [base, ...parts.map((_, depth) => `${base}/${parts.slice(0, depth + 1).join('/')}`)];
}

/** One that is not there says nothing. */
export function readGroupFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
