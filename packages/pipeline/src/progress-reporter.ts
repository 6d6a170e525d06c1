// Follows the results of the request phase: tells the observer and the metrics once a second, and keeps the phase's two ends.
import { isFinal, OUTCOME_NAMES, REQUEST_KINDS, SHARD_STATES, type ShardState } from '@assay/domain';
import { type EngineCounters, GENERATE, HeartbeatSums, type Plan, type RemainingEstimate, RunProgressModel, weighWork } from '@assay/planner';
import type { RequestIndex, Result } from '@assay/protocol';
import type { ResultLedger } from '@assay/store';
import type { WorkerHandle } from '@assay/workers';
import type { EnginePool } from './agent/engine-pool.ts';
import type { ShardLedger } from './agent/shard-ledger.ts';
import type { AnswerHistory } from './experience/answer-history.ts';
import type { RunContext } from './run-context.ts';

const REPORT_MS = 1_000;
const LEAST_LEARNED_MS = 5_000;

interface ProgressParts {
  index: RequestIndex;
  results: ResultLedger;
  shards: ShardLedger;
  pool: EnginePool;
  /** Rows in the order of dispatch. */
  order: Uint32Array;
  /** When the oldest shard that is leased or running was leased. */
  oldestLeaseAtMs(): number | undefined;
  plan: Plan;
  answers: AnswerHistory;
}

export class ProgressReporter {
  readonly #context: RunContext;
  readonly #parts: ProgressParts;
  readonly #model: RunProgressModel;
  readonly #sums = new HeartbeatSums();
  /** What the engines had counted before the first request: the probe's steps. */
  #counted: EngineCounters = this.#sums.counters();
  /** By row: 1 where a final result was noted, or was there before this start. */
  readonly #isNoted: Uint8Array;
  /** The engines that the phase began with, and what each has loaded. */
  #begunWith: { handle: WorkerHandle; plan: Plan | undefined }[] = [];
  #hasReported = false;
  #reportedAtSeconds = 0;
  #idleSeconds = 0;
  #startedAtMs = 0;
  #firstStepAt: number | undefined;
  #lastResultAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: RunContext, parts: ProgressParts) {
    this.#context = context;
    this.#parts = parts;
    const { index, results, order, plan, answers } = parts;
    const finalRows = Array.from({ length: index.count }, (_, row) => row).filter((row) => results.isFinal(row));
    this.#isNoted = Uint8Array.from({ length: index.count }, (_, row) => Number(results.isFinal(row)));
    this.#model = new RunProgressModel(index, {
      finalRows, order, expectedNewTokens: answers.p90Tokens, maxNumBatchedTokens: plan.maxNumBatchedTokens,
      priorRates: weighWork(plan.facts, plan.device), knownRates: context.experience.recallRates(plan),
    });
    const counts = REQUEST_KINDS.map((_, number) => index.columns.kind.reduce((sum, kind) => sum + Number(kind === number), 0));
    REQUEST_KINDS.forEach((kind, number) => context.metrics.set('assay_requests_planned', counts[number] ?? 0, { kind }));
    // What earlier starts stored shows also where nothing is left to run.
    this.#countResults();
  }

  start(): void {
    this.#startedAtMs = Date.now();
    this.#begunWith = this.#parts.pool.replicas.map(({ handle, plan }) => ({ handle, plan }));
    this.#noteBeats();
    this.#counted = this.#sums.counters();
    this.#timer = setInterval(() => this.#report(), REPORT_MS);
  }

  /** Notes results that have become durable. */
  note(stored: readonly Result[], atMs: number): void {
    this.#lastResultAtMs = atMs;
    const { index: { columns: { kind } }, answers } = this.#parts;
    for (const { row, task, outcome, newTokens, cachedTokens } of stored) {
      this.#context.metrics.add('assay_results_total', 1, { outcome });
      // A second final result of a row, after a repeated attempt, is no more work and no further answer.
      if (!isFinal(outcome) || this.#isNoted[row]) continue;
      this.#isNoted[row] = 1;
      this.#model.finish(row, { newTokens, cachedTokens });
      if (kind[row] === GENERATE && newTokens !== undefined) answers.note(task, newTokens);
    }
  }

  /** Notes when a shard's first request was in an engine step, in Unix seconds. */
  noteFirstStep(atSeconds: number): void {
    this.#firstStepAt = Math.min(this.#firstStepAt ?? atSeconds, atSeconds);
  }

  /** Writes the ends of the phase into the events. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#report();
    if (this.#lastResultAtMs === 0) return;
    const { events, epoch } = this.#context;
    // A phase in which no shard ended knows only when it began to hand them out.
    const firstStepAt = this.#firstStepAt ?? this.#startedAtMs / 1000;
    await events.append({ type: 'request_phase', epoch, firstStepAt, lastResultAt: this.#lastResultAtMs / 1000 });
    this.#noteLessons();
  }

  #report(): void {
    const { pool, results, shards } = this.#parts;
    const beats = pool.replicas.map(({ handle }) => handle.lastHeartbeat).filter((beat) => beat !== undefined);
    const sum = (pick: (beat: (typeof beats)[number]) => number) => beats.reduce((total, beat) => total + pick(beat), 0);
    const elapsedSeconds = (Date.now() - this.#startedAtMs) / 1000;
    const atSeconds = elapsedSeconds - this.#countIdle(elapsedSeconds);
    const { steps } = this.#countSinceStart();
    // A beat may be a second old: the phase's first one still brings steps of the probe.
    if (!this.#hasReported) this.#counted.steps += steps;
    this.#hasReported = true;
    this.#model.observe({ atSeconds, ...this.#countSinceStart() });
    const estimate = this.#model.estimate(atSeconds);
    // Nobody knows when the next worker comes.
    const remaining = pool.readyCount() > 0 || estimate.fraction === 1 ? estimate : { ...estimate, seconds: null };
    this.#context.ui.onProgress({
      finalRequests: results.finalCount,
      totalRequests: results.index.count,
      openRequests: results.index.count - results.finalCount,
      shardsDone: shards.doneCount(),
      shardsTotal: shards.doneCount() + shards.openCount(),
      workersReady: pool.readyCount(),
      remaining,
      elapsedSeconds,
    });
    this.#setMetrics(remaining, { running: sum((beat) => beat.runningRequests), waiting: sum((beat) => beat.waitingRequests) });
  }

  /** Seconds so far with no worker ready, which say nothing of the speed. */
  #countIdle(elapsedSeconds: number): number {
    if (this.#parts.pool.readyCount() === 0) this.#idleSeconds += elapsedSeconds - this.#reportedAtSeconds;
    this.#reportedAtSeconds = elapsedSeconds;
    return this.#idleSeconds;
  }

  /** For the next run's forecast; a phase of a few steps says little, and one with a load in its midst something false. */
  #noteLessons(): void {
    const { plan, pool, results, answers } = this.#parts;
    const { experience } = this.#context;
    experience.noteAnswers(answers, (task) => results.rowsOfTask(task).length);
    const rates = this.#model.rates();
    const phaseMs = this.#lastResultAtMs - this.#startedAtMs;
    if (rates === undefined || phaseMs < LEAST_LEARNED_MS || this.#wasReplaced()) return;
    experience.noteSpeed(plan, {
      done: this.#model.done(), rates, phaseSeconds: phaseMs / 1000,
      startSeconds: findLongest(pool.replicas.map(({ handle }) => handle.startSeconds)), loadSeconds: findLongest(pool.replicas.map(({ loaded }) => loaded?.seconds)),
    });
  }

  /** True where an engine was started again since, or has another plan: its loading would count as work, and the plan is not the one asked about. */
  #wasReplaced(): boolean {
    const { replicas } = this.#parts.pool;
    return replicas.length !== this.#begunWith.length
      || replicas.some(({ handle, plan, isDown }, number) => isDown || handle !== this.#begunWith[number]?.handle || plan !== this.#begunWith[number]?.plan);
  }

  #noteBeats(): void {
    for (const { number, handle } of this.#parts.pool.replicas) if (handle.lastHeartbeat) this.#sums.note(number, handle.lastHeartbeat);
  }

  #countSinceStart(): EngineCounters {
    this.#noteBeats();
    const { runningRequests, ...sums } = this.#sums.counters();
    const since = (name: keyof typeof sums) => sums[name] - this.#counted[name];
    return { steps: since('steps'), promptTokens: since('promptTokens'), newTokens: since('newTokens'), runningRequests };
  }

  #setMetrics({ seconds, fraction }: RemainingEstimate, engine: { running: number; waiting: number }): void {
    const { metrics } = this.#context;
    const { pool, shards } = this.#parts;
    metrics.set('assay_run_progress_ratio', fraction);
    metrics.set('assay_run_remaining_seconds', seconds ?? Number.NaN);
    metrics.set('assay_requests_running', engine.running);
    metrics.set('assay_requests_waiting', engine.waiting);
    this.#countResults();
    const nowMs = Date.now();
    metrics.set('assay_shard_oldest_age_seconds', (nowMs - (this.#parts.oldestLeaseAtMs() ?? nowMs)) / 1000);
    const states = [...shards.shards.values()].map(({ state }) => state);
    for (const state of Object.keys(SHARD_STATES) as ShardState[]) {
      metrics.set('assay_shards', states.filter((other) => other === state).length, { state });
    }
    const working = pool.replicas.filter(({ handle }) => handle.state === 'busy').map(({ handle }) => handle.lastProgressAtMs / 1000);
    metrics.set('assay_worker_last_progress_timestamp_seconds', working.length > 0 ? Math.min(...working) : Number.NaN);
    metrics.set('assay_worker_peak_bytes', Math.max(0, ...pool.replicas.map(({ handle }) => handle.lastHeartbeat?.peakBytes ?? 0)), { role: 'engine' });
  }

  #countResults(): void {
    const { metrics } = this.#context;
    const { results } = this.#parts;
    for (const [kind, counts] of Object.entries(results.countByKind())) {
      for (const outcome of OUTCOME_NAMES) metrics.set('assay_requests', counts[outcome], { kind: kind as (typeof REQUEST_KINDS)[number], outcome });
    }
    metrics.raise('assay_results_duplicate_total', results.duplicates);
    metrics.raise('assay_results_torn_lines_total', results.tornLines);
  }
}

/** Replicas wait for the slowest of them. */
function findLongest(seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
