// How much of a run is done and how long the rest takes, from tokens: scoring, prefill and decoding apart. Invariant: the
// fraction counts unique final requests, never falls, and reaches 1 only with the last of them.
import type { RequestIndex } from '@assay/protocol';
import { addWork, learnRates, mapUnits, NO_WORK, secondsOf, type Work, type WorkInterval } from './rates.ts';
import { TOKEN_WEIGHTS } from './request-costs.ts';
import type { ExpectedNewTokens } from './request-lengths.ts';
import { type FinishedTokens, WorkTally } from './work-tally.ts';

export interface RemainingEstimate {
  /** null until enough is done to say. */
  seconds: number | null;
  /** Share of the work that is done, 0 to 1. */
  fraction: number;
}

export interface ProgressSnapshot {
  /** What was done when, in this start. */
  intervals: readonly WorkInterval[];
  done: Work;
  remaining: Work;
  isComplete: boolean;
}

const MOST_WHILE_OPEN = 0.999;

/** Seconds and share of the rest, at the rates this run has shown. */
export function estimateRemaining({ intervals, done, remaining, isComplete }: ProgressSnapshot): RemainingEstimate {
  if (isComplete) return { seconds: 0, fraction: 1 };
  const rates = learnRates(intervals);
  const doneCost = secondsOf(done, rates ?? TOKEN_WEIGHTS);
  const remainingCost = secondsOf(remaining, rates ?? TOKEN_WEIGHTS);
  const fraction = doneCost > 0 ? doneCost / (doneCost + remainingCost) : 0;
  return { seconds: rates ? remainingCost : null, fraction: Math.min(fraction, MOST_WHILE_OPEN) };
}

export interface ProgressOptions {
  expectedNewTokens?: ExpectedNewTokens | undefined;
  /** Rows that were final before this start: done, but they say nothing about speed. */
  finalRows?: Iterable<number>;
}

/** Sums over all engine workers; tokens also of requests that are still in the engine. */
export interface EngineCounters {
  promptTokens: number;
  newTokens: number;
  runningRequests: number;
}

const MIN_INTERVAL_SECONDS = 1;
const MAX_INTERVALS = 48;

/** Follows a run through results and heartbeats. Time comes from the caller: seconds since its request phase began. */
export class RunProgressModel {
  readonly totalRequests: number;
  readonly #tally: WorkTally;
  #engine: EngineCounters = { promptTokens: 0, newTokens: 0, runningRequests: 0 };
  #intervals: WorkInterval[] = [];
  #pending: WorkInterval = { seconds: 0, work: NO_WORK };
  #accounted: Work = NO_WORK;
  #atSeconds = 0;
  #fraction = 0;

  constructor(index: RequestIndex, { expectedNewTokens, finalRows = [] }: ProgressOptions = {}) {
    this.totalRequests = index.count;
    this.#tally = new WorkTally(index, expectedNewTokens, finalRows);
  }

  get finalRequests(): number {
    return this.#tally.finalRequests;
  }

  /** Notes a final result; a second one for the same row changes nothing. */
  finish(row: number, tokens: FinishedTokens = {}): void {
    this.#tally.finish(row, tokens);
  }

  /** Notes the time, and the engines' counters where they are known (HeartbeatSums adds them up). */
  observe({ atSeconds, promptTokens = 0, newTokens = 0, runningRequests = 0 }: { atSeconds: number } & Partial<EngineCounters>): void {
    this.#engine = {
      promptTokens: Math.max(this.#engine.promptTokens, promptTokens),
      newTokens: Math.max(this.#engine.newTokens, newTokens),
      runningRequests,
    };
    const seconds = Math.max(0, atSeconds - this.#atSeconds);
    const done = addWork(this.#tally.finished, this.#inFlight());
    const work = mapUnits((unit) => Math.max(0, done[unit] - this.#accounted[unit]));
    this.#atSeconds += seconds;
    this.#accounted = addWork(this.#accounted, work);
    this.#pending = { seconds: this.#pending.seconds + seconds, work: addWork(this.#pending.work, work) };
    if (this.#pending.seconds < MIN_INTERVAL_SECONDS) return;
    this.#intervals.push(this.#pending);
    this.#pending = { seconds: 0, work: NO_WORK };
    if (this.#intervals.length > MAX_INTERVALS) this.#intervals = mergePairs(this.#intervals);
  }

  estimate(atSeconds: number): RemainingEstimate {
    this.observe({ atSeconds, ...this.#engine });
    const inFlight = this.#inFlight();
    const open = this.#tally.expectOpen(inFlight.decode);
    const estimate = estimateRemaining({
      intervals: this.#pending.seconds > 0 ? [...this.#intervals, this.#pending] : this.#intervals,
      done: addWork(addWork(this.#tally.finished, this.#tally.before), inFlight),
      remaining: mapUnits((unit) => Math.max(0, open[unit] - inFlight[unit])),
      isComplete: this.finalRequests === this.totalRequests,
    });
    this.#fraction = Math.max(this.#fraction, estimate.fraction);
    return { ...estimate, fraction: this.#fraction };
  }

  /** Work done for requests that are not final yet. */
  #inFlight(): Work {
    const { open, finished, openGenerations, lastPhase } = this.#tally;
    const { promptTokens, newTokens, runningRequests } = this.#engine;
    const counted = Math.max(0, promptTokens - finished.scored - finished.prefill);
    if (lastPhase !== 'prefill') return { ...NO_WORK, scored: lastPhase === 'scored' ? Math.min(open.scored, counted) : 0 };
    // Prompts of running generations are in the cache already, also where the engine counts them only at the end.
    const running = openGenerations > 0 ? (Math.min(runningRequests, openGenerations) * open.prefill) / openGenerations : 0;
    const decode = Math.max(0, newTokens - finished.decode);
    return { ...NO_WORK, prefill: Math.min(open.prefill, Math.max(counted, running)), decode: Math.min(open.decode, decode) };
  }
}

function mergePairs(intervals: readonly WorkInterval[]): WorkInterval[] {
  const merged: WorkInterval[] = [];
  for (let place = 0; place < intervals.length; place += 2) {
    const [first, second] = [intervals[place]!, intervals[place + 1]];
    merged.push(second ? { seconds: first.seconds + second.seconds, work: addWork(first.work, second.work) } : first);
  }
  return merged;
}
