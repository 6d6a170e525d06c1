// How much of a run is done and how long the rest takes, from tokens: scoring, prefill and decoding apart. Invariant: the
// fraction counts unique final requests, never falls, and reaches 1 only with the last of them.
import type { RequestIndex } from '@assay/protocol';
import { learnRates, type WorkInterval } from './rates.ts';
import { TOKEN_WEIGHTS } from '../requests/request-costs.ts';
import type { ExpectedNewTokens } from '../requests/request-lengths.ts';
import { ToldEnd } from './told-end.ts';
import { WorkIntervals } from './work-intervals.ts';
import { type FinishedTokens, WorkTally } from './work-tally.ts';
import { addWork, mapUnits, NO_WORK, secondsOf, type Work } from '../requests/work.ts';
import type { DoneWork } from '../requests/workload.ts';

export interface RemainingEstimate {
  /** null until enough is done to say. */
  seconds: number | null;
  /** Share of the work that is done, 0 to 1. */
  fraction: number;
}

interface ProgressSnapshot {
  /** What was done when, in this start. */
  intervals: readonly WorkInterval[];
  /** Since the last of them, spent on work that shows only at its end. */
  stepSeconds?: number;
  done: Work;
  remaining: Work;
  isComplete: boolean;
  /** Seconds a unit, or their ratios, where this run has not shown them yet. */
  prior?: Work | undefined;
}

const MOST_WHILE_OPEN = 0.999;

/** Seconds and share of the rest, at the rates this run has shown. */
function estimateRemaining({ intervals, stepSeconds = 0, done, remaining, isComplete, prior = TOKEN_WEIGHTS }: ProgressSnapshot): RemainingEstimate {
  if (isComplete) return { seconds: 0, fraction: 1 };
  const rates = learnRates(intervals, prior);
  const doneCost = secondsOf(done, rates ?? prior);
  const remainingCost = secondsOf(remaining, rates ?? prior);
  const fraction = doneCost > 0 ? doneCost / (doneCost + remainingCost) : 0;
  return { seconds: rates ? Math.max(0, remainingCost - stepSeconds) : null, fraction: Math.min(fraction, MOST_WHILE_OPEN) };
}

interface ProgressOptions {
  /** In which the requests are sent. */
  order?: Uint32Array | undefined;
  expectedNewTokens?: ExpectedNewTokens | undefined;
  /** Rows that were final before this start: done, but they say nothing about speed. */
  finalRows?: Iterable<number>;
  /** The plan's limit: no step takes in more of the prompts. */
  maxNumBatchedTokens?: number;
  /** Ratios of the seconds a unit, as far as the model tells them. */
  priorRates?: Work | undefined;
  /** Seconds a unit that an earlier run of this model on this device took: a forecast before anything is done. */
  knownRates?: Work | undefined;
}

/** Sums over all engine workers since the request phase began. */
export interface EngineCounters {
  steps: number;
  /** Of whole prompts gone through, also those of requests that are still running. */
  promptTokens: number;
  /** Tokens made, step by step. */
  newTokens: number;
  runningRequests: number;
}

// What an earlier run took weighs as much as this many seconds of this one.
const KNOWN_SECONDS = 10;
// From this share of the work on, the told end is steady.
const STEADY_SHARE = 0.2;

/** Follows a run through results and heartbeats. Time comes from the caller: seconds since its request phase began. */
export class RunProgressModel {
  readonly totalRequests: number;
  readonly #tally: WorkTally;
  readonly #maxNumBatchedTokens: number;
  readonly #priorRates: Work | undefined;
  /** Stands for the earlier run that the rates are known from. */
  readonly #known: WorkInterval[];
  readonly #intervals = new WorkIntervals();
  readonly #told = new ToldEnd();
  #engine: EngineCounters = { steps: 0, promptTokens: 0, newTokens: 0, runningRequests: 0 };
  /** Tokens of prompts gone through, and as many of a prompt begun as the steps allow. */
  #takenIn = 0;
  #accounted: Work = NO_WORK;
  #atSeconds = 0;
  #fraction = 0;

  constructor(index: RequestIndex, { order, expectedNewTokens, finalRows = [], maxNumBatchedTokens = 0, priorRates, knownRates }: ProgressOptions = {}) {
    this.totalRequests = index.count;
    this.#maxNumBatchedTokens = maxNumBatchedTokens;
    this.#priorRates = knownRates ?? priorRates;
    this.#tally = new WorkTally({ index, order, expected: expectedNewTokens, finalRows });
    this.#known = knownRates ? buildKnownInterval(this.#tally.expectOpen({ running: 0, newTokens: 0 }), knownRates) : [];
  }

  get finalRequests(): number {
    return this.#tally.finalRequests;
  }

  /** Notes a final result; a second one for the same row changes nothing. */
  finish(row: number, tokens: FinishedTokens = {}): void {
    this.#tally.finish(row, tokens);
  }

  /** Notes the time, and the engines' counters where they are known (HeartbeatSums adds them up). */
  observe({ atSeconds, steps = 0, promptTokens = 0, newTokens = 0, runningRequests = 0 }: { atSeconds: number } & Partial<EngineCounters>): void {
    this.#takenIn += Math.max(0, steps - this.#engine.steps) * this.#maxNumBatchedTokens;
    this.#engine = {
      steps: Math.max(this.#engine.steps, steps),
      promptTokens: Math.max(this.#engine.promptTokens, promptTokens),
      newTokens: Math.max(this.#engine.newTokens, newTokens),
      runningRequests,
    };
    const seconds = Math.max(0, atSeconds - this.#atSeconds);
    const inFlight = this.#inFlight();
    this.#takenIn = this.#tally.finishedPromptTokens + inFlight.prefill + inFlight.scored;
    const done = addWork(this.#tally.finished, inFlight);
    const work = mapUnits((unit) => Math.max(0, done[unit] - this.#accounted[unit]));
    this.#atSeconds += seconds;
    this.#accounted = addWork(this.#accounted, work);
    this.#intervals.add(seconds, work);
  }

  estimate(atSeconds: number): RemainingEstimate {
    this.observe({ atSeconds, ...this.#engine });
    const inFlight = this.#inFlight();
    const open = this.#tally.expectOpen({ running: this.#runningGenerations(), newTokens: inFlight.decode });
    const estimate = estimateRemaining({
      intervals: [...this.#known, ...this.#intervals.list()],
      stepSeconds: this.#intervals.secondsSinceWork(),
      done: addWork(addWork(this.#tally.finished, this.#tally.before), inFlight),
      remaining: mapUnits((unit) => Math.max(0, open[unit] - inFlight[unit])),
      isComplete: this.finalRequests === this.totalRequests,
      prior: this.#priorRates,
    });
    this.#fraction = Math.max(this.#fraction, estimate.fraction);
    const isSteady = this.#fraction >= STEADY_SHARE;
    return { seconds: estimate.seconds && this.#told.tell(estimate.seconds, { atSeconds, isSteady }), fraction: this.#fraction };
  }

  /** What this start has done, to be held against the roofline. */
  done(): DoneWork {
    const { finished, finishedScored, finishedDecodePairs } = this.#tally;
    return {
      requests: finished.request, scoredRequests: finishedScored, promptTokens: finished.scored + finished.prefill, scoredTokens: finished.scored,
      newTokens: finished.decode, promptPairs: finished.attention, decodePairs: finishedDecodePairs,
    };
  }

  /** Seconds a unit of work took in this run, to be the next one's `priorRates`. */
  rates(): Work | undefined {
    return learnRates(this.#intervals.list(), this.#priorRates);
  }

  #runningGenerations(): number {
    return Math.min(this.#engine.runningRequests, this.#tally.openGenerations);
  }

  /** Work done for requests that are not final yet. */
  #inFlight(): Work {
    const { open, finished, finishedScored, finishedPromptTokens } = this.#tally;
    const { promptTokens, newTokens, runningRequests } = this.#engine;
    const prompts = this.#tally.walkPrompts({
      requests: runningRequests,
      counted: promptTokens - finishedPromptTokens,
      possible: this.#takenIn - finishedPromptTokens,
    });
    const made = newTokens - finishedScored - finished.decode;
    return { ...prompts, decode: Math.min(open.decode, Math.max(0, made)) };
  }
}

/** As much of the work ahead as the earlier run did in that time. */
function buildKnownInterval(ahead: Work, rates: Work): WorkInterval[] {
  const seconds = secondsOf(ahead, rates);
  return seconds > 0 ? [{ seconds: KNOWN_SECONDS, work: mapUnits((unit) => (ahead[unit] * KNOWN_SECONDS) / seconds) }] : [];
}
