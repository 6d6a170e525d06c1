// Which requests are final and what work is still open. Invariant: a request counts once, whatever is reported twice.
import type { RequestIndex } from '@assay/protocol';
import { AnswerLengths } from './answer-lengths.ts';
import type { Work } from './rates.ts';
import { expectedNewTokens, type ExpectedNewTokens, GENERATE } from './request-lengths.ts';

export interface FinishedTokens {
  newTokens?: number | undefined;
  cachedTokens?: number | undefined;
}

const noWork = (): Work => ({ request: 0, scored: 0, prefill: 0, decode: 0 });

export class WorkTally {
  /** Work of requests without a final result, as expected. */
  readonly open: Work = noWork();
  /** Work of requests that became final in this start, as it was. */
  readonly finished: Work = noWork();
  /** Work of requests that were final before. */
  readonly before: Work = noWork();
  finalRequests = 0;
  openGenerations = 0;
  /** Kind of work that ended last; undefined while there is a choice and nothing has ended. */
  lastPhase: 'scored' | 'prefill' | undefined;
  readonly #index: RequestIndex;
  readonly #expected: Uint32Array;
  readonly #isFinal: Uint8Array;
  readonly #answers = new AnswerLengths();
  /** Expected new tokens of open generations, by task. */
  readonly #openByTask = new Map<number, number>();
  readonly #prompts = { tokens: 0, cached: 0 };

  constructor(index: RequestIndex, expected: ExpectedNewTokens | undefined, finalRows: Iterable<number>) {
    this.#index = index;
    this.#expected = expectedNewTokens(index, expected);
    this.#isFinal = new Uint8Array(index.count);
    for (let row = 0; row < index.count; row += 1) this.#add(this.open, row, 1);
    for (const row of finalRows) {
      if (this.#close(row)) this.#add(this.before, row, 1);
    }
    if (this.open.scored === 0) this.lastPhase = 'prefill';
    if (this.open.prefill === 0) this.lastPhase = 'scored';
  }

  /** Notes a final result; a second one for the same row changes nothing. */
  finish(row: number, { newTokens, cachedTokens = 0 }: FinishedTokens): void {
    if (!this.#close(row)) return;
    this.#add(this.finished, row, 1);
    const isGenerate = this.#isGenerate(row);
    this.lastPhase = isGenerate ? 'prefill' : 'scored';
    if (!isGenerate) return;
    const expected = this.#expected[row]!;
    const made = newTokens ?? expected;
    const prompt = this.#promptTokens(row);
    this.finished.decode += made - expected;
    this.finished.prefill -= Math.min(prompt, cachedTokens);
    this.#prompts.tokens += prompt;
    this.#prompts.cached += Math.min(prompt, cachedTokens);
    this.#answers.finish(this.#index.columns.task[row]!, made, expected);
  }

  /** Open work with answer lengths and cache hits as they have turned out; `unfinishedTokens` were made for open requests. */
  expectOpen(unfinishedTokens: number): Work {
    const { tokens, cached } = this.#prompts;
    let decode = 0;
    for (const [task, expected] of this.#openByTask) decode += expected * this.#answers.shareOf(task, unfinishedTokens);
    return { ...this.open, prefill: this.open.prefill * (tokens > 0 ? 1 - cached / tokens : 1), decode };
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
    if (!this.#isGenerate(row)) {
      work.scored += sign * prompt;
      return;
    }
    work.prefill += sign * prompt;
    work.decode += sign * this.#expected[row]!;
    if (work !== this.open) return;
    this.openGenerations += sign;
    const task = this.#index.columns.task[row]!;
    this.#openByTask.set(task, (this.#openByTask.get(task) ?? 0) + sign * this.#expected[row]!);
  }

  #isGenerate(row: number): boolean {
    return this.#index.columns.kind[row] === GENERATE;
  }

  #promptTokens(row: number): number {
    return this.#index.columns.contextTokens[row]! + this.#index.columns.continuationTokens[row]!;
  }
}
