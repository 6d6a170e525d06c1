// The memory control groups of the kernel, of both versions: which one this process is in, and which files of a group say what.
import { existsSync, readFileSync } from 'node:fs';
import { listGroupFolders, parseGroupPaths } from '@assay/domain';

export interface ControlGroup {
  version: 1 | 2;
  folder: string;
}

interface GroupFiles {
  /** Holds the line "oom_kill N". */
  kills: string;
  limit: string;
  /** File and content, in the order in which they are written; but for the limit, those that a kernel lacks are left out. */
  settings(bytes: number): readonly (readonly [file: string, content: string])[];
}

export const GROUP_FILES: Readonly<Record<ControlGroup['version'], GroupFiles>> = {
  1: {
    kills: 'memory.oom_control',
    limit: 'memory.limit_in_bytes',
    // Memory and swap together may not be below memory alone.
    settings: (bytes) => [['memory.limit_in_bytes', String(bytes)], ['memory.memsw.limit_in_bytes', String(bytes)]],
  },
  2: {
    kills: 'memory.events',
    limit: 'memory.max',
    // A worker is of no use without one of its ranks: they end together.
    settings: (bytes) => [['memory.max', String(bytes)], ['memory.swap.max', '0'], ['memory.oom.group', '1']],
  },
};

/** The file that lists a group's processes, and that takes in the one whose number is written to it (0: the writer). */
export const MEMBERS_FILE = 'cgroup.procs';

/** The groups that this process is in, outermost first; empty where the kernel counts no memory. `root` stands for the file system's. */
export function findMemoryGroups(root = ''): ControlGroup[] {
  const paths = parseGroupPaths(readGroupFile(`${root}/proc/self/cgroup`));
  const version = paths.has('memory') ? 1 : 2;
  const base = `${root}/sys/fs/cgroup${version === 1 ? '/memory' : ''}`;
  return listGroupFolders(base, paths.get(version === 1 ? 'memory' : '')).filter((folder) => existsSync(`${folder}/${MEMBERS_FILE}`)).map((folder) => ({ version, folder }));
}

/** One that is not there says nothing. */
export function readGroupFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
