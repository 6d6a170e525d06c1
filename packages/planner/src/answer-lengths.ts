// How long this run's answers turn out, per task. Answers still being written count: the first to end are the short ones.

interface TaskAnswers {
  finished: number;
  newTokens: number;
  budget: number;
}

// The expectation from history or the budget weighs as much as this many finished answers.
const PRIOR_ANSWERS = 4;

export class AnswerLengths {
  readonly #tasks = new Map<number, TaskAnswers>();
  #newTokens = 0;
  #budget = 0;

  /** Notes a finished answer and what was expected of it. */
  finish(task: number, newTokens: number, expected: number): void {
    const answers = this.#tasks.get(task) ?? { finished: 0, newTokens: 0, budget: 0 };
    this.#tasks.set(task, { finished: answers.finished + 1, newTokens: answers.newTokens + newTokens, budget: answers.budget + expected });
    this.#newTokens += newTokens;
    this.#budget += expected;
  }

  /**
   * Share of the expected tokens that an unfinished answer of `task` will probably take. `unfinishedTokens` have been written
   * for answers that have not ended; adding them to the finished ones corrects for long answers ending last.
   */
  shareOf(task: number, unfinishedTokens: number): number {
    if (this.#budget === 0 || this.#newTokens === 0) return 1;
    const censoring = 1 + unfinishedTokens / this.#newTokens;
    const overall = Math.min(1, (this.#newTokens * censoring) / this.#budget);
    const answers = this.#tasks.get(task);
    if (!answers) return overall;
    const priorBudget = (PRIOR_ANSWERS * answers.budget) / answers.finished;
    return Math.min(1, (answers.newTokens * censoring + overall * priorBudget) / (answers.budget + priorBudget));
  }
}
