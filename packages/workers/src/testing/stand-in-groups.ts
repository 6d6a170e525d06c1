// A folder that stands for the kernel's control groups: what it holds is what a test writes, and folders below it are plain ones.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import type { FolderDoor } from '../control-groups.ts';

/** Files by path below the root. */
export function makeRoot(files: Readonly<Record<string, string>>): string {
  const root = makeTempDir();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** What the kernel puts into each group that is made. */
export function makeDoor(files: Readonly<Record<string, string>>): FolderDoor {
  return {
    make: (folder) => {
      mkdirSync(folder);
      for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    },
    remove: (folder) => rmSync(folder, { recursive: true }),
  };
}

export const V1_FILES = { 'cgroup.procs': '', 'memory.limit_in_bytes': '9223372036854771712\n', 'memory.memsw.limit_in_bytes': '9223372036854771712\n', 'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 0\n' };
export const V2_FILES = { 'cgroup.procs': '', 'cgroup.subtree_control': '', 'memory.max': 'max\n', 'memory.swap.max': 'max\n', 'memory.oom.group': '0\n', 'memory.events': 'low 0\noom 0\noom_kill 0\n' };

export function writeKills(file: string, kills: number): void {
  writeFileSync(file, `oom_kill_disable 0\nunder_oom 0\noom_kill ${kills}\n`);
}
