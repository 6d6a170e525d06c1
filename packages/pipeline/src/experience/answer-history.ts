// How long each task's answers were for these weights in earlier runs, and how long they turn out in this one. Invariant: only a
// task that one start has answered whole teaches anything, since the first answers to end are the short ones.
import type { ExpectedNewTokens } from '@assay/planner';
import type { Rendered } from '@assay/protocol';
import { digestOf, type LearnedLengths } from '@assay/store';

/** What is learned of one task. */
type AnswerLengths = Pick<LearnedLengths, 'task' | 'answers' | 'meanTokens' | 'p90Tokens'>;

// The 90th percentile of fewer says little.
const LEAST_ANSWERS = 10;

export class AnswerHistory {
  readonly #names: readonly string[];
  readonly #titles: readonly string[];
  readonly #known: readonly (AnswerLengths | undefined)[];
  readonly #made = new Map<number, number[]>();

  constructor({ tasks, chatTemplateDigest }: Pick<Rendered, 'tasks' | 'chatTemplateDigest'>, entries: readonly AnswerLengths[]) {
    this.#titles = tasks.map(({ task }) => task);
    this.#names = tasks.map((task) => nameTask(task, chatTemplateDigest));
    this.#known = this.#names.map((name) => pickMost(entries.filter(({ task }) => task === name)));
  }

  readonly p90Tokens: ExpectedNewTokens = (task) => this.#known[task]?.p90Tokens;

  readonly meanTokens: ExpectedNewTokens = (task) => this.#known[task]?.meanTokens;

  /** The 90th percentiles by task name; undefined where there are none. */
  describe(): Record<string, number> | undefined {
    const known = this.#titles.flatMap((title, task) => (this.#known[task] ? [[title, this.#known[task].p90Tokens] as const] : []));
    return known.length > 0 ? Object.fromEntries(known) : undefined;
  }

  /** As `describe` had it once: what an order was made with. */
  readDescribed(described: Readonly<Record<string, number>>): ExpectedNewTokens {
    return (task) => described[this.#titles[task] ?? ''];
  }

  note(task: number, newTokens: number): void {
    const made = this.#made.get(task) ?? [];
    this.#made.set(task, made);
    made.push(newTokens);
  }

  /** Of each task of which this start has seen `generations` answers, all there are. */
  summarize(generations: (task: number) => number): AnswerLengths[] {
    return [...this.#made].flatMap(([task, made]) => {
      if (made.length < Math.max(LEAST_ANSWERS, generations(task))) return [];
      const sorted = made.toSorted((a, b) => a - b);
      const meanTokens = sorted.reduce((sum, tokens) => sum + tokens, 0) / sorted.length;
      return [{ task: this.#names[task] as string, answers: sorted.length, meanTokens, p90Tokens: sorted[Math.ceil(0.9 * sorted.length) - 1] as number }];
    });
  }
}

/** Whatever documents it was limited to: a task's definition and sampling, and how its prompts are made. */
function nameTask({ task, version, files, numFewshot, generationParameters }: Rendered['tasks'][number], chatTemplateDigest: string | null): string {
  return digestOf({ task, version, files, numFewshot, generationParameters, chatTemplateDigest });
}

/** The run with the most answers; the latest of equals. */
function pickMost(entries: readonly AnswerLengths[]): AnswerLengths | undefined {
  return entries.toSorted((a, b) => a.answers - b.answers).at(-1);
}
