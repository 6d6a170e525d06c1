// The control group below which the workers' groups are made. Invariant: a limit that this process is under holds for them too.
import { accessSync, constants, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AssayError } from '@assay/domain';
import { type ControlGroup, type FolderDoor, MEMBERS_FILE, readGroupFile, readLimitBytes } from './control-groups.ts';

export interface GroupPlace {
  parent: ControlGroup;
  /** Undoes what was changed for it. */
  leave(): void;
}

interface Leaf {
  /** Of the group that this process moves into where its own is to have groups below it. */
  name: string;
  door: FolderDoor;
}

const CHILD_CONTROLLERS = 'cgroup.subtree_control';

/** `groups`: those that this process is in, outermost first. Throws CGROUP_UNAVAILABLE. */
export function openPlace(groups: readonly ControlGroup[], leaf: Leaf): GroupPlace {
  const own = groups.at(-1);
  if (!own) throw refuse('this system has no memory control group');
  if (own.version === 1) return openBelow(own);
  for (const group of groups.toReversed()) {
    if (hands(group, CHILD_CONTROLLERS) && isWritable(group)) return openBelow(group);
    if (group === own && hands(group, 'cgroup.controllers') && isWritable(group) && isAlone(group)) return openInside(group, leaf);
    // Groups beside this one would be free of its limit.
    if (readLimitBytes(group) !== undefined) throw refuse(`${group.folder} has a memory limit, and no group can be made inside it`);
  }
  throw refuse(`no group above ${own.folder} gives memory to groups that this user may make`);
}

function openBelow(parent: ControlGroup): GroupPlace {
  if (!isWritable(parent)) throw refuse(`${parent.folder} is not writable`);
  return { parent, leave: () => undefined };
}

/** Version 2: a group has processes or hands its controllers down, never both. So this process moves into a leaf of its own. */
function openInside(parent: ControlGroup, { name, door }: Leaf): GroupPlace {
  const folder = join(parent.folder, name);
  const move = (to: string) => writeFileSync(join(to, MEMBERS_FILE), String(process.pid));
  const hand = (change: string) => writeFileSync(join(parent.folder, CHILD_CONTROLLERS), change);
  const moveBack = () => {
    attempt(() => move(parent.folder));
    attempt(() => door.remove(folder));
  };
  const leave = () => {
    attempt(() => hand('-memory'));
    moveBack();
  };
  try {
    door.make(folder);
    move(folder);
    hand('+memory');
  } catch (thrown) {
    moveBack();
    throw refuse(thrown as Error);
  }
  return { parent, leave };
}

/** At the end nothing is lost where the kernel refuses: the next start finds an empty group and removes it. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // left to the next start
  }
}

function hands({ folder }: ControlGroup, file: string): boolean {
  return readGroupFile(join(folder, file)).trim().split(/\s+/).includes('memory');
}

function isAlone({ folder }: ControlGroup): boolean {
  return readGroupFile(join(folder, MEMBERS_FILE)).trim() === String(process.pid);
}

function isWritable({ folder }: ControlGroup): boolean {
  return [folder, join(folder, MEMBERS_FILE)].every((path) => {
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** `problem`: in words, or what the kernel said to a write. */
export function refuse(problem: string | NodeJS.ErrnoException): AssayError {
  if (typeof problem === 'string') return new AssayError('CGROUP_UNAVAILABLE', { problem });
  const { code, path, message } = problem;
  return new AssayError('CGROUP_UNAVAILABLE', { problem: path === undefined ? message : `${basename(path)}: ${code}` }, { cause: problem });
}
