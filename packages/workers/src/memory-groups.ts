// A memory control group for each worker, made before it starts and removed when it has ended. Invariant: only folders named
// assay-… are ever removed, and only while no process is in them.
import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlGroup, type FolderDoor, findMemoryGroups, GROUP_FILES, MEMBERS_FILE, readGroupFile } from './control-groups.ts';
import { type GroupPlace, openPlace, refuse } from './group-place.ts';
import { OomKills } from './oom-kills.ts';

interface MemoryLimit {
  bytes: number;
  membersFile: string;
  group: ControlGroup;
  /** The groups that it lies in, whose limits hold for it too; the innermost first. */
  around: readonly ControlGroup[];
}

/** Where a worker's memory is counted. */
export interface MemoryGroup {
  /** Undefined where the worker stays in the group of its parent, which has other members. */
  limit?: MemoryLimit;
  kills: OomKills;
  /** After the worker and all that it started have ended. */
  remove(): Promise<void>;
}

const KERNEL: FolderDoor = { make: (folder) => mkdirSync(folder), remove: (folder) => rmdirSync(folder) };
const REMOVE_POLL_MS = 20;
const REMOVE_MS = 2_000;
/** A run's group is empty between its making and its worker's entry: others leave it alone for that long. */
const YOUNG_MS = 60_000;

export class MemoryGroups {
  readonly #runId: string;
  readonly #place: GroupPlace;
  readonly #door: FolderDoor;
  readonly #around: readonly ControlGroup[];

  /** Throws CGROUP_UNAVAILABLE. Sweeps what runs that were killed have left. */
  constructor({ runId, root = '', door = KERNEL }: { runId: string; root?: string; door?: FolderDoor }) {
    this.#runId = runId;
    this.#door = door;
    const groups = findMemoryGroups(root);
    this.#place = openPlace(groups, { name: `assay-${runId}-main`, door });
    const { folder: parent } = this.#place.parent;
    this.#around = groups.filter(({ folder }) => parent === folder || parent.startsWith(`${folder}/`)).toReversed();
    try {
      this.#sweep();
      this.#tryOut();
    } catch (thrown) {
      this.#place.leave();
      throw refuse(thrown as Error);
    }
  }

  /** `worker`: unique among the living workers of this run. */
  make(worker: string, bytes: number): MemoryGroup {
    const group = { ...this.#place.parent, folder: join(this.#place.parent.folder, `assay-${this.#runId}-${worker}`) };
    try {
      this.#create(group, bytes);
    } catch (thrown) {
      throw refuse(thrown as Error);
    }
    return { limit: { bytes, membersFile: join(group.folder, MEMBERS_FILE), group, around: this.#around }, kills: new OomKills(group), remove: () => this.#remove(group.folder) };
  }

  #sweep(): void {
    const { folder } = this.#place.parent;
    for (const name of readdirSync(folder).filter((entry) => entry.startsWith('assay-'))) {
      const isOurs = name.startsWith(`assay-${this.#runId}-`);
      if (isEmpty(join(folder, name)) && (isOurs || ageMs(join(folder, name)) > YOUNG_MS)) this.#tryRemove(join(folder, name));
    }
  }

  /** After the last worker has ended. */
  close(): void {
    try {
      this.#sweep();
    } finally {
      this.#place.leave();
    }
  }

  #tryOut(): void {
    const folder = join(this.#place.parent.folder, `assay-${this.#runId}-trial`);
    try {
      this.#create({ ...this.#place.parent, folder }, 2 ** 30);
    } finally {
      this.#tryRemove(folder);
    }
  }

  #create({ version, folder }: ControlGroup, bytes: number): void {
    // One that could not be removed when its worker ended is taken again.
    if (!existsSync(folder)) this.#door.make(folder);
    const { limit, settings } = GROUP_FILES[version];
    for (const [file, content] of settings(bytes)) {
      if (file === limit || existsSync(join(folder, file))) writeFileSync(join(folder, file), content);
    }
  }

  /** The kernel takes a moment to let go of processes that have ended; what it keeps longer is left to the next sweep. */
  async #remove(folder: string): Promise<void> {
    for (let waitedMs = 0; !this.#tryRemove(folder) && waitedMs < REMOVE_MS; waitedMs += REMOVE_POLL_MS) await sleep(REMOVE_POLL_MS);
  }

  #tryRemove(folder: string): boolean {
    try {
      this.#door.remove(folder);
    } catch {
      return !existsSync(folder);
    }
    return true;
  }
}

function isEmpty(folder: string): boolean {
  return readGroupFile(join(folder, MEMBERS_FILE)).trim() === '';
}

function ageMs(folder: string): number {
  return Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}
