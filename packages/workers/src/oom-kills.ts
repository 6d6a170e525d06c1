// Whether the kernel killed for want of memory: its own count for a control group, compared with what was seen before. A SIGKILL
// that the count does not explain was sent by somebody. Invariant: a kill explains one end, of a worker that was there by then.
import { type ControlGroup, findMemoryGroups, GROUP_FILES, readGroupFile } from './control-groups.ts';

export class OomKills {
  readonly #group: ControlGroup | undefined;
  /** Kills by their number in the kernel's count. */
  readonly #claimed = new Set<number>();

  /** Without a group nothing is ever claimed. */
  constructor(group: ControlGroup | undefined) {
    this.#group = group;
  }

  /** Taken when a worker starts: what was killed up to now was none of it. */
  mark(): number {
    if (!this.#group) return 0;
    const { version, folder } = this.#group;
    return Number(/^oom_kill (\d+)$/m.exec(readGroupFile(`${folder}/${GROUP_FILES[version].kills}`))?.[1] ?? 0);
  }

  /** True once for each kill since the mark: processes that share a group may not explain two ends by one of them. */
  claim(mark: number): boolean {
    const count = this.mark();
    for (let kill = mark + 1; kill <= count; kill += 1) {
      if (this.#claimed.has(kill)) continue;
      this.#claimed.add(kill);
      return true;
    }
    return false;
  }
}

let shared: OomKills | undefined;

/** Of the group that this process is in, and with it every worker that has none of its own. */
export function ownOomKills(): OomKills {
  shared ??= new OomKills(findMemoryGroups().at(-1));
  return shared;
}
