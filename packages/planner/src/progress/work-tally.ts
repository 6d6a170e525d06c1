// Which requests are final and what work is still open. Invariant: a request counts once, whatever is reported twice.
import type { RequestIndex } from '@assay/protocol';
import { AnswerLengths, type RunningAnswers } from '../requests/answer-lengths.ts';
import { allRows, expectedNewTokens, type ExpectedNewTokens, GENERATE } from '../requests/request-lengths.ts';
import { NO_WORK, type Work } from '../requests/work.ts';

export interface FinishedTokens {
  newTokens?: number | undefined;
  cachedTokens?: number | undefined;
}

interface TallyInput {
  index: RequestIndex;
  /** In which the requests are sent; by row without it. */
  order?: Uint32Array | undefined;
  expected?: ExpectedNewTokens | undefined;
  finalRows: Iterable<number>;
}

export class WorkTally {
  /** Work of requests without a final result, as expected. */
  readonly open: Work = { ...NO_WORK };
  /** Work of requests that became final in this start, as it was. */
  readonly finished: Work = { ...NO_WORK };
  /** Work of requests that were final before. */
  readonly before: Work = { ...NO_WORK };
  finalRequests = 0;
  openGenerations = 0;
  finishedScored = 0;
  /** Pairs of a generated token with what was before it, of requests that became final in this start. */
  finishedDecodePairs = 0;
  /** Of requests that became final in this start, cached ones among them. */
  finishedPromptTokens = 0;
  readonly #index: RequestIndex;
  readonly #expected: Uint32Array;
  readonly #isFinal: Uint8Array;
  readonly #answers = new AnswerLengths();
  /** Open generations and their expected new tokens, by task. */
  readonly #openByTask = new Map<number, { requests: number; newTokens: number }>();
  /** Of generations, the cached part by what turned out. */
  readonly #cache = { tokens: 0, cachedTokens: 0, pairs: 0, cachedPairs: 0 };
  #openPairs = 0;
  readonly #order: Uint32Array;
  /** Every row before this place of the order is final. */
  #firstOpen = 0;

  constructor({ index, order, expected, finalRows }: TallyInput) {
    this.#index = index;
    this.#order = order ?? allRows(index);
    this.#expected = expectedNewTokens(index, expected);
    this.#isFinal = new Uint8Array(index.count);
    for (let row = 0; row < index.count; row += 1) this.#add(this.open, row, 1);
    for (const row of finalRows) {
      if (this.#close(row)) this.#add(this.before, row, 1);
    }
  }

  /** Notes a final result; a second one for the same row changes nothing. */
  finish(row: number, { newTokens, cachedTokens = 0 }: FinishedTokens): void {
    if (!this.#close(row)) return;
    this.#add(this.finished, row, 1);
    this.finishedPromptTokens += this.#promptTokens(row);
    if (!this.#isGenerate(row)) {
      this.finishedScored += 1;
      return;
    }
    const expected = this.#expected[row]!;
    const made = newTokens ?? expected;
    const prompt = this.#promptTokens(row);
    const cached = Math.min(prompt, cachedTokens);
    this.finished.decode += made - expected;
    this.finishedDecodePairs += made * (prompt + made / 2);
    this.finished.prefill -= cached;
    this.finished.attention -= countPairs(cached);
    this.#cache.tokens += prompt;
    this.#cache.cachedTokens += cached;
    this.#cache.pairs += countPairs(prompt);
    this.#cache.cachedPairs += countPairs(cached);
    this.#answers.finish(this.#index.columns.task[row]!, made, expected);
  }

  /** Open work with answer lengths and cache hits as they have turned out. */
  expectOpen(running: RunningAnswers): Work {
    const { tokens, cachedTokens, pairs, cachedPairs } = this.#cache;
    let decode = 0;
    for (const [task, open] of this.#openByTask) decode += this.#answers.expect(task, open, running);
    if (cachedTokens === 0) return { ...this.open, decode };
    const { prefill, attention } = this.open;
    return { ...this.open, prefill: prefill * (1 - cachedTokens / tokens), attention: attention - (this.#openPairs * cachedPairs) / pairs, decode };
  }

  /**
   * Prompts gone through of the first `requests` open requests in the order, which are those that run. `counted` are tokens of
   * whole prompts; of the next prompt there may be as many as make it `possible` altogether.
   */
  walkPrompts({ requests, counted, possible }: { requests: number; counted: number; possible: number }): Work {
    while (this.#firstOpen < this.#order.length && this.#isFinal[this.#order[this.#firstOpen]!]) this.#firstOpen += 1;
    const work = { ...NO_WORK };
    let walked = 0;
    let left = requests;
    for (let place = this.#firstOpen; place < this.#order.length && left > 0 && walked <= counted; place += 1) {
      const row = this.#order[place]!;
      if (this.#isFinal[row]) continue;
      const tokens = Math.max(0, Math.min(this.#promptTokens(row), Math.max(counted, possible) - walked));
      work[this.#isGenerate(row) ? 'prefill' : 'scored'] += tokens;
      work.attention += countPairs(tokens);
      walked += tokens;
      left -= 1;
    }
    return work;
  }

  #close(row: number): boolean {
    if (this.#isFinal[row] !== 0) return false;
    this.#isFinal[row] = 1;
    this.finalRequests += 1;
    this.#add(this.open, row, -1);
    return true;
  }

  #add(work: Work, row: number, sign: 1 | -1): void {
    const prompt = this.#promptTokens(row);
    work.request += sign;
    work.attention += sign * countPairs(prompt);
    if (!this.#isGenerate(row)) {
      work.scored += sign * prompt;
      return;
    }
    work.prefill += sign * prompt;
    work.decode += sign * this.#expected[row]!;
    if (work !== this.open) return;
    this.openGenerations += sign;
    this.#openPairs += sign * countPairs(prompt);
    const task = this.#index.columns.task[row]!;
    const ofTask = this.#openByTask.get(task) ?? { requests: 0, newTokens: 0 };
    ofTask.requests += sign;
    ofTask.newTokens += sign * this.#expected[row]!;
    this.#openByTask.set(task, ofTask);
  }

  #isGenerate(row: number): boolean {
    return this.#index.columns.kind[row] === GENERATE;
  }

  #promptTokens(row: number): number {
    return this.#index.columns.contextTokens[row]! + this.#index.columns.continuationTokens[row]!;
  }
}

/** Each token of a prompt attends to those before it. */
function countPairs(tokens: number): number {
  return tokens ** 2 / 2;
}
