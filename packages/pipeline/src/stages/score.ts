// SCORE: each task as soon as its last request is final, then the files in lm_eval's shape. A task that fails holds up no other.
import { mkdir, rm } from 'node:fs/promises';
import type { Aggregated, AnswerTally, Coverage, MetricRow, Rendered, Scored } from '@assay/protocol';
import { hasAnswer } from '@assay/domain';
import { warnOfAnswers } from '@assay/reports';
import { readTaskResults, type ResultLedger } from '@assay/store';
import type { HarnessWorker } from '../processes/harness-worker.ts';
import { type RunContext, warn } from '../run-context.ts';

export class Scorer {
  readonly scored = new Map<number, Scored>();
  readonly #context: RunContext;
  readonly #harness: HarnessWorker;
  readonly #rendered: Rendered;
  readonly #results: ResultLedger;
  readonly #started = new Map<number, Promise<void>>();
  #failed = 0;

  constructor(context: RunContext, parts: { harness: HarnessWorker; rendered: Rendered; results: ResultLedger }) {
    this.#context = context;
    this.#harness = parts.harness;
    this.#rendered = parts.rendered;
    this.#results = parts.results;
    this.#countTasks();
  }

  /** Starts scoring every task whose requests are all final. */
  scoreCompleteTasks(tasks: Iterable<number> = this.#rendered.tasks.keys()): void {
    for (const task of tasks) {
      const { final, requests } = this.#results.progressOfTask(task);
      if (final === requests) this.#start(task, this.#context.config.waive_coverage);
    }
  }

  /** Resolves when every started task is scored; with `waived`, those that lack requests are scored from what there is. */
  async finish({ waived }: { waived: boolean }): Promise<void> {
    this.scoreCompleteTasks();
    if (waived) for (const task of this.#rendered.tasks.keys()) this.#start(task, true);
    await Promise.all(this.#started.values());
  }

  coverageOf(task: number): Coverage {
    const counts = this.#results.countOfTask(task);
    const { final, requests } = this.#results.progressOfTask(task);
    const answered = Object.entries(counts).reduce((sum, [outcome, count]) => sum + (hasAnswer(outcome as keyof typeof counts) ? count : 0), 0);
    return { requests, final, answered, share: requests === 0 ? 1 : answered / requests };
  }

  /** Share of a task's generated answers that were stopped by their budget. */
  lengthShareOf(task: number): number {
    const { length, ok, truncated } = this.#results.countOfTask(task);
    return length === 0 ? 0 : length / (length + ok + truncated);
  }

  /** What is known of the answers behind a task's score; undefined while it has none. */
  answersOf(task: number): AnswerTally | undefined {
    return this.scored.get(task)?.answers;
  }

  /** True where a rule was waived for its score, or for sealing it without one. */
  isWaived(task: number): boolean {
    const { final, requests } = this.#results.progressOfTask(task);
    return this.scored.get(task)?.headline === 'waived' || (this.#context.config.waive_coverage && final < requests);
  }

  incompleteTasks(): number[] {
    return [...this.#rendered.tasks.keys()].filter((task) => this.coverageOf(task).share < 1);
  }

  async aggregate(record: { date: string; config: Record<string, unknown>; extra: Record<string, unknown> }): Promise<Aggregated> {
    const { config, run } = this.#context;
    // An earlier start may have ended between writing these and sealing.
    await rm(run.paths.scoresDir, { recursive: true, force: true });
    await mkdir(run.paths.scoresDir);
    return this.#harness.request({ type: 'aggregate', scoresDir: run.paths.scoresDir, logSamples: config.log_samples, ...record });
  }

  rows(): MetricRow[] {
    return [...this.scored.entries()].sort(([a], [b]) => a - b).flatMap(([, { rows }]) => rows);
  }

  #start(task: number, waived: boolean): void {
    if (this.#started.has(task)) return;
    const work = this.#score(task, waived);
    work.catch(() => undefined);
    this.#started.set(task, work);
  }

  async #score(task: number, waived: boolean): Promise<void> {
    const { run, events, epoch, ui } = this.#context;
    const results = await readTaskResults(run.dir, this.#results, task);
    const scored = await this.#harness.request({ type: 'score', task, waived, results });
    this.scored.set(task, scored);
    const name = this.#rendered.tasks[task]?.task ?? String(task);
    await events.append({ type: 'task_scored', epoch, task: name, documents: scored.documents, scoredDocuments: scored.scoredDocuments, seconds: scored.seconds });
    for (const { metric, error } of scored.rows) if (error) await warn(this.#context, 'METRIC_FAILED', `${name}: ${metric}: ${error}`);
    for (const text of warnOfAnswers(scored.answers, this.lengthShareOf(task))) await warn(this.#context, 'ANSWERS', `${name}: ${text}`);
    ui.onTaskScored(scored.rows);
    this.#failed += Number(scored.rows.some(({ error }) => error));
    this.#countTasks();
  }

  #countTasks(): void {
    const counts = { open: this.#rendered.tasks.length - this.scored.size, scored: this.scored.size - this.#failed, failed: this.#failed };
    for (const [state, count] of Object.entries(counts)) this.#context.metrics.set('assay_tasks', count, { state: state as keyof typeof counts });
  }
}
