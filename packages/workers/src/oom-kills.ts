// Whether the kernel killed for want of memory: its own count for a control group, compared with what was seen before. A SIGKILL
// that the count does not explain was sent by somebody.
import { type ControlGroup, findMemoryGroups, GROUP_FILES, readGroupFile } from './control-groups.ts';

export class OomKills {
  readonly #group: ControlGroup | undefined;
  #claimed = 0;

  /** Without a group nothing is ever claimed. */
  constructor(group: ControlGroup | undefined) {
    this.#group = group;
    this.forget();
  }

  /** What was killed up to now was none of ours: called when a worker starts. */
  forget(): void {
    this.#claimed = this.#read();
  }

  /** True once for each kill: processes that share a group may not explain two ends by one of them. */
  claim(): boolean {
    if (this.#read() <= this.#claimed) return false;
    this.#claimed += 1;
    return true;
  }

  #read(): number {
    if (!this.#group) return 0;
    const { version, folder } = this.#group;
    return Number(/^oom_kill (\d+)$/m.exec(readGroupFile(`${folder}/${GROUP_FILES[version].kills}`))?.[1] ?? 0);
  }
}

let shared: OomKills | undefined;

/** Of the group that this process is in, and with it every worker that has none of its own. */
export function ownOomKills(): OomKills {
  shared ??= new OomKills(findMemoryGroups().at(-1));
  return shared;
}
