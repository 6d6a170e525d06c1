// DISPATCH: shards go onto the queue and come back as stored results. Ends when every shard has, or when the run is to end.
import type { Plan } from '@assay/planner';
import type { RequestIndex, ResultsMessage, ShardDone } from '@assay/protocol';
import type { ShardQueue } from '@assay/queue';
import type { ResultLedger } from '@assay/store';
import { logShardAttempt } from '@assay/telemetry';
import type { WorkerHandle } from '@assay/workers';
import { Agent } from '../agent/agent.ts';
import type { AttemptReport } from '../agent/attempt.ts';
import { describeFailure } from '../agent/describe-failure.ts';
import type { EnginePool } from '../agent/engine-pool.ts';
import { type Downfall, recoverFromFailure } from '../agent/recovery.ts';
import { SHARDS_AHEAD } from '../agent/replica-leases.ts';
import { ShardLedger } from '../agent/shard-ledger.ts';
import type { AnswerHistory } from '../experience/answer-history.ts';
import { ProgressReporter } from '../progress-reporter.ts';
import { type RunContext, showWarning } from '../run-context.ts';
import type { Dispatchable } from './order-requests.ts';
import { writePlan } from './plan.ts';

/** How long a drain lets the requests in the engines finish. */
const DRAIN_GRACE_MS = 60_000;

interface DispatchInput {
  work: Dispatchable;
  index: RequestIndex;
  results: ResultLedger;
  queue: ShardQueue;
  pool: EnginePool;
  answers: AnswerHistory;
  /** Plans tried so far, the one in force last. */
  tried: Plan[];
  /** Called with the tasks that new results belong to. */
  onTaskResults(tasks: ReadonlySet<number>): void;
}

export interface Dispatcher {
  /** For the engines' `results` messages. */
  handleResults(message: ResultsMessage): void;
  /** Puts every open shard on the queue again: Redis may have lost them. */
  requeue(): void;
  run(): Promise<void>;
}

export function createDispatcher(context: RunContext, input: DispatchInput): Dispatcher {
  const { work, results, queue, pool, index } = input;
  const isAtomic = context.determinism === 'strict';
  const ending = AbortSignal.any([context.drain, context.stop]);
  const shards = new ShardLedger({
    shards: work.shards, order: work.order, isAtomic, isFinal: (row) => results.isFinal(row),
    logMove: (shard, from, to) => context.log.debug({ shard, from, to }, 'shard state'),
  });
  const progress = new ProgressReporter(context, {
    index, results, shards, pool, order: work.order, oldestLeaseAtMs: () => agent.oldestLeaseAtMs, plan: input.tried.at(-1) as Plan, answers: input.answers,
  });
  const recovery = {
    epoch: context.epoch, index, events: context.events, pool, shards, agent: () => agent, mayStepDown: !isAtomic, tried: input.tried, downfalls: new Map<WorkerHandle, Downfall>(),
    onRung: async (plan: Plan, cause: string) => {
      showWarning(context, `${cause}; going on with a smaller plan`);
      context.metrics.set('assay_plan_rung', context.events.history.rungs.length);
      await writePlan(context, plan);
    },
  };
  const agent: Agent = new Agent({
    dir: context.run.dir, runId: context.run.header.id, epoch: context.epoch, orderFile: work.file, events: context.events,
    queue, pool, shards, results, isAtomic, ending,
    onResults: (stored, atMs) => {
      progress.note(stored, atMs);
      input.onTaskResults(new Set(stored.map(({ task }) => task)));
    },
    onShardStarted: () => context.idle.beginComputing(),
    onShardEnded: (report) => {
      if (report.done && report.done.requests > 0) progress.noteFirstStep(report.done.firstStepAt);
      noteShardEnd(context, report);
    },
    recover: (failed) => recoverFromFailure(recovery, failed),
  });
  return {
    handleResults: (message) => agent.handleResults(message),
    requeue: () => void agent.enqueueOpen().catch((thrown: unknown) => agent.fail(thrown)),
    run: () => runAgent(context, { agent, input, progress, ending }),
  };
}

interface Running {
  agent: Agent;
  input: DispatchInput;
  progress: ProgressReporter;
  ending: AbortSignal;
}

async function runAgent(context: RunContext, { agent, input, progress, ending }: Running): Promise<void> {
  const { queue, pool, work } = input;
  if (work.shards.length === 0) return;
  progress.start();
  const consumer = await queue.consume({
    concurrency: SHARDS_AHEAD * pool.replicas.length,
    run: (attempt, signal) => agent.runShard(attempt, signal),
    onGivenUp: (ref, problem) => context.log.warn({ ...ref, problem }, 'the queue gave an attempt up'),
  });
  try {
    await agent.enqueueOpen();
    await Promise.race([agent.finished, whenAborted(ending)]);
    // What is in the engines may finish unless the run is to stop at once.
    if (context.drain.aborted && !context.stop.aborted) {
      context.ui.onNote(`draining: requests in the engines finish, for ${DRAIN_GRACE_MS / 1000} s at most, and nothing new starts; Ctrl-C again stops now`);
      await context.events.append({ type: 'drain_started', epoch: context.epoch });
      await Promise.race([pool.stop(DRAIN_GRACE_MS), whenAborted(context.stop)]);
    }
  } finally {
    await consumer.close(false);
    await progress.stop();
  }
  ending.throwIfAborted();
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function noteShardEnd(context: RunContext, { shard, attempt, worker, outcome, seconds, results, done, failure }: AttemptReport): void {
  context.idle.endComputing();
  context.metrics.add('assay_shard_attempts_total', 1, { outcome });
  context.metrics.observe('assay_shard_duration_seconds', seconds.engine);
  if (done) {
    context.metrics.add('assay_tokens_total', done.promptTokens, { direction: 'prompt' });
    context.metrics.add('assay_tokens_total', done.cachedTokens, { direction: 'cached' });
    context.metrics.add('assay_tokens_total', done.newTokens, { direction: 'new' });
  }
  const described = failure && describeFailure(failure);
  logShardAttempt(context.log, {
    epoch: context.epoch, shard: shard.id, attempt, worker, outcome, requests: done?.requests ?? shard.end - shard.begin, results, seconds,
    ...(done ? { engine: pickCounts(done) } : {}),
    ...(described ? { failure: { class: described.class, message: described.message } } : {}),
  });
}

function pickCounts({ promptTokens, cachedTokens, newTokens, steps, batch, peakBytes }: ShardDone) {
  return { promptTokens, cachedTokens, newTokens, steps, batch, peakBytes };
}
