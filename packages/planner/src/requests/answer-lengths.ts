// How long this run's answers turn out, per task, as a share of what was expected. Answers still being written count too: the
// first to end are the short ones.

interface Answers {
  finished: number;
  newTokens: number;
  expectedTokens: number;
}

/** Generations in the engine. */
export interface RunningAnswers {
  running: number;
  newTokens: number;
}

// What other tasks' answers suggest weighs as much as this many answers of the task's own.
const PRIOR_ANSWERS = 4;
// Before any answer has ended: most models stop well before their budget, and none goes beyond it.
const FIRST_SHARE = 0.5;

export class AnswerLengths {
  readonly #tasks = new Map<number, Answers>();
  readonly #all: Answers = { finished: 0, newTokens: 0, expectedTokens: 0 };
  #shareSum = 0;
  #shareSquares = 0;

  /** Notes a finished answer and what was expected of it. */
  finish(task: number, newTokens: number, expectedTokens: number): void {
    const answers = this.#tasks.get(task) ?? { finished: 0, newTokens: 0, expectedTokens: 0 };
    this.#tasks.set(task, answers);
    for (const sums of [answers, this.#all]) {
      sums.finished += 1;
      sums.newTokens += newTokens;
      sums.expectedTokens += expectedTokens;
    }
    const share = newTokens / Math.max(1, expectedTokens);
    this.#shareSum += share;
    this.#shareSquares += share ** 2;
  }

  /** Tokens that `requests` unfinished answers of `task` will probably take, of the `expectedTokens` at most. */
  expect(task: number, open: { requests: number; newTokens: number }, running: RunningAnswers): number {
    const { finished, newTokens, expectedTokens } = this.#all;
    if (newTokens === 0) return open.newTokens * FIRST_SHARE;
    // Also where nothing was expected of those that ended: there is no share of it.
    if (open.newTokens === 0) return 0;
    const correction = this.#correctForRunning(running);
    const answers = this.#tasks.get(task);
    // Of a task without answers yet: between the others' share of their budget and their length.
    const byShare = (newTokens * correction * open.newTokens) / expectedTokens;
    const byLength = (newTokens * correction * open.requests) / finished;
    const byOthers = Math.min(open.newTokens, (byShare + byLength) / 2);
    if (!answers) return byOthers;
    const ownTokens = (answers.newTokens * correction * open.newTokens) / answers.expectedTokens;
    const ownWeight = answers.finished / (answers.finished + PRIOR_ANSWERS);
    return Math.min(open.newTokens, ownWeight * ownTokens + (1 - ownWeight) * byOthers);
  }

  /**
   * By how much the mean of the finished answers is too short. Each place in the batch writes one answer after the other, a
   * renewal process: n answers and t tokens later the mean is about t / (n + (1 - c²) / 2), c being the coefficient of variation.
   */
  #correctForRunning({ running, newTokens }: RunningAnswers): number {
    const { finished } = this.#all;
    const mean = this.#shareSum / finished;
    const variation = mean > 0 ? Math.min(1, Math.max(0, this.#shareSquares / finished / mean ** 2 - 1)) : 1;
    return (1 + newTokens / this.#all.newTokens) / (1 + (running * (1 - variation)) / 2 / finished);
  }
}
