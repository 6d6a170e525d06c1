// What a run has done when, in intervals to learn rates from: each ends with a step of an engine, and however long the run, there
// are only so many.
import type { WorkInterval } from './rates.ts';
import { addWork, NO_WORK, type Work, WORK_UNITS } from '../requests/work.ts';

const MIN_INTERVAL_SECONDS = 1;
const MAX_INTERVALS = 48;
const WARM_INTERVALS = 2;

export class WorkIntervals {
  #ended: WorkInterval[] = [];
  #current: WorkInterval = { seconds: 0, work: NO_WORK };
  #isWarm = false;

  /** Adds the `work` that became known after another `seconds`. */
  add(seconds: number, work: Work): void {
    this.#current = { seconds: this.#current.seconds + seconds, work: addWork(this.#current.work, work) };
    // An interval ends with a step: one that ended within a step would tell little about any work.
    if (this.#current.seconds < MIN_INTERVAL_SECONDS || !isWork(work)) return;
    this.#ended.push(this.#current);
    // The first interval began before the engine did: it goes as soon as there are others.
    if (!this.#isWarm && this.#ended.length === WARM_INTERVALS) {
      this.#ended.shift();
      this.#isWarm = true;
    }
    this.#current = { seconds: 0, work: NO_WORK };
    if (this.#ended.length > MAX_INTERVALS) this.#ended = mergePairs(this.#ended);
  }

  /** Those in which something was done. */
  list(): readonly WorkInterval[] {
    return isWork(this.#current.work) ? [...this.#ended, this.#current] : this.#ended;
  }

  /** How long the step under way has taken; no more than those before took, so that a stalled engine brings the end no nearer. */
  secondsSinceWork(): number {
    return isWork(this.#current.work) ? 0 : Math.min(this.#current.seconds, Math.max(0, ...this.#ended.map(({ seconds }) => seconds)));
  }
}

function isWork(work: Work): boolean {
  return WORK_UNITS.some((unit) => work[unit] > 0);
}

function mergePairs(intervals: readonly WorkInterval[]): WorkInterval[] {
  const merged: WorkInterval[] = [];
  for (let place = 0; place < intervals.length; place += 2) {
    const [first, second] = [intervals[place]!, intervals[place + 1]];
    merged.push(second ? { seconds: first.seconds + second.seconds, work: addWork(first.work, second.work) } : first);
  }
  return merged;
}
