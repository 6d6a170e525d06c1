// Whether the kernel killed for want of memory: its own count for a control group, compared with what was seen before. A SIGKILL
// that the count does not explain was sent by somebody. Invariant: a kill explains one end, of a worker that was there by then.
import { formatBytes } from '@assay/domain';
import type { Failure } from '@assay/protocol';
import { type ControlGroup, findMemoryGroups, GROUP_FILES, readGroupFile } from './control-groups.ts';
import { describeExhaustion } from './worker-failure.ts';

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

/** What one worker ran out of, as far as the kernel killed it or a part of it for that. To be made before the worker starts. */
export class Exhaustion {
  readonly #kills: OomKills;
  readonly #mark: number;
  readonly #source: string;
  #found: string | undefined;

  constructor({ kills, limit }: { kills: OomKills; limit?: { bytes: number } }) {
    this.#kills = kills;
    this.#mark = kills.mark();
    this.#source = limit ? `the ${formatBytes(limit.bytes)} of limits.memory are used up` : 'the machine or its container has none left';
  }

  /** Undefined where no kill is left to explain its end. */
  find(): string | undefined {
    if (this.#found === undefined && this.#kills.claim(this.#mark)) this.#found = this.#source;
    return this.#found;
  }

  /** To the worker a rank that the kernel killed is an engine that died. */
  explain(failure: Failure): Failure {
    if (failure.class !== 'engine' && failure.class !== 'unknown') return failure;
    const exhausted = this.find();
    return exhausted === undefined ? failure : { ...failure, class: 'oom', message: `${describeExhaustion(exhausted)} (${failure.message})` };
  }
}
