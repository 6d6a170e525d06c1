// What a worker ran out of where the kernel ended it, or a part of it, for want of memory: its own limit, that of a group around
// it, or the machine. Invariant: the limit is not blamed where the kernel tells that it was not reached.
import { formatBytes } from '@assay/domain';
import type { Failure } from '@assay/protocol';
import { type ControlGroup, countLimitHits, hasReachedLimit, readLimitBytes, readPeakBytes } from './control-groups.ts';
import type { MemoryGroup } from './memory-groups.ts';
import { describeExhaustion, type Exhausted } from './worker-failure.ts';

interface Watched {
  group: ControlGroup;
  /** How often its limit had been reached when the worker started; undefined where the kernel does not tell. */
  hits: number | undefined;
}

const watch = (group: ControlGroup): Watched => ({ group, hits: countLimitHits(group) });
const NOTHING_LEFT = 'the machine or its container has none left';

export class Exhaustion {
  readonly #memory: Pick<MemoryGroup, 'kills' | 'limit'>;
  readonly #mark: number;
  readonly #own: Watched | undefined;
  /** The innermost first. */
  readonly #around: readonly Watched[];
  #found: Exhausted | undefined;

  /** To be made before the worker starts. */
  constructor(memory: Pick<MemoryGroup, 'kills' | 'limit'>) {
    this.#memory = memory;
    this.#mark = memory.kills.mark();
    this.#own = memory.limit && watch(memory.limit.group);
    this.#around = (memory.limit?.around ?? []).map(watch);
  }

  /** Undefined where no kill is left to explain its end. */
  find(): Exhausted | undefined {
    if (this.#found === undefined && this.#memory.kills.claim(this.#mark)) this.#found = this.#blame();
    return this.#found;
  }

  /** To the worker a rank that the kernel killed is an engine that died. */
  explain(failure: Failure): { failure: Failure; exhausted?: Exhausted } {
    if (failure.class !== 'engine' && failure.class !== 'unknown') return { failure };
    const exhausted = this.find();
    return exhausted === undefined ? { failure } : { failure: { ...failure, class: 'oom', message: `${describeExhaustion(exhausted.what)} (${failure.message})` }, exhausted };
  }

  #blame(): Exhausted {
    if (!this.#memory.limit || !this.#own) return { what: NOTHING_LEFT };
    const { bytes: limitBytes } = this.#memory.limit;
    const limit = `${formatBytes(limitBytes)} of limits.memory`;
    if (hasReached(this.#own) !== false) return { what: `the ${limit} are used up` };
    const full = this.#around.find((watched) => hasReached(watched))?.group;
    const what = full ? `the ${formatBytes(readLimitBytes(full) ?? 0)} of the control group around it are used up` : NOTHING_LEFT;
    return { what: `${what}, before the ${limit} are`, outside: { limitBytes, peakBytes: readPeakBytes(this.#own.group) } };
  }
}

const hasReached = ({ group, hits }: Watched): boolean | undefined => hasReachedLimit(group, hits);
