// What happens after an attempt failed: a smaller plan, a fresh engine, a retry, a cut in two, or a request named as the cause.
// The same plan is never tried twice after an OOM, and one bad request costs itself alone.
import { AssayError, type Outcome } from '@assay/domain';
import { nextRung, type Plan } from '@assay/planner';
import { FAILURE_CLASSES, type Failure, type RequestIndex, type Result } from '@assay/protocol';
import type { EventLog } from '@assay/store';
import type { WorkerHandle } from '@assay/workers';
import type { Agent, FailedAttempt } from './agent.ts';
import { describeFailure } from './describe-failure.ts';
import type { EnginePool } from './engine-pool.ts';
import { describeReplica, sayWhose } from './failed-replica.ts';
import type { Replica } from './replica.ts';
import type { LedgerShard, ShardLedger, Verdict } from './shard-ledger.ts';

export interface Downfall {
  cause: Failure;
  smallerPlan: Promise<Plan | undefined>;
  /** Shards that went down with it and wait for another process, and what resolves when they are queued again. */
  fallen: LedgerShard[];
  resumed?: Promise<void>;
}

export interface RecoveryInput {
  epoch: number;
  index: RequestIndex;
  events: EventLog;
  pool: EnginePool;
  shards: ShardLedger;
  agent(): Agent;
  /** strict: no smaller plan in mid-run. */
  mayStepDown: boolean;
  /** Plans tried so far, the one in force last. */
  tried: Plan[];
  /** Why each process that failed did. */
  downfalls: Map<WorkerHandle, Downfall>;
  /** Resolves when a further start would begin with it. `cause`: what the plan before lacked, for people. */
  onRung(plan: Plan, cause: string): Promise<void>;
}

/** What lacks memory, by what a rung has to help with. */
const RUNG_CAUSES = {
  term: 'out of memory in mid-run',
  start_share: 'too little memory is free to start an engine again',
  cache_room: 'an engine that was started again has too little room for its KV cache',
} as const;

/** Handles one failed attempt; resolves when its shard is queued again or has ended. Throws PROBE_OOM in strict. */
export async function recoverFromFailure(input: RecoveryInput, failed: FailedAttempt): Promise<void> {
  const failure = describeFailure(failed.failure);
  const { replica, handle } = failed.lease;
  const hasCrashed = failed.failure.kind === 'ended' || FAILURE_CLASSES[failure.class].restart;
  if (!hasCrashed) return applyVerdict(input, failed.shard, { verdict: input.shards.release(failed.shard, 'failed'), failure });
  const lacksMemory = FAILURE_CLASSES[failure.class].rung !== false;
  if (lacksMemory && !input.mayStepDown) throw refuseSmaller(input, failed, failure);
  const downfall = findDownfall(input, failed, failure);
  const rung = await downfall.smallerPlan;
  const replacement = { replica, failed: handle, stepDown: (reason: Failure) => stepDown(input, { replica, shard: failed.shard, failure: reason }) };
  if (rung) {
    input.shards.renew(failed.shard);
    downfall.fallen.push(failed.shard);
    downfall.resumed ??= input.pool.restart({ ...replacement, plan: rung }).then(() => requeueFallen(input, downfall));
    await downfall.resumed;
    // Those that fell after the first were queued again.
    return requeueFallen(input, downfall);
  }
  await input.pool.restart({ ...replacement, plan: input.tried.at(-1) as Plan, cuts: failed.shard.cuts });
  await applyVerdict(input, failed.shard, { verdict: input.shards.release(failed.shard, lacksMemory ? 'oom' : 'crashed'), failure: downfall.cause });
}

/** Before all others, the longest first: where the smaller plan is too large as well, that shows at once and not at the end. */
async function requeueFallen(input: RecoveryInput, { fallen }: Downfall): Promise<void> {
  const shards = fallen.splice(0).toSorted((a, b) => a.begin - b.begin);
  if (shards.length > 0) await input.agent().enqueue(shards, { first: true });
}

/** The first of a process's shards to tell says why it failed: to the others it merely ended. */
function findDownfall(input: RecoveryInput, { lease: { replica, handle }, shard }: FailedAttempt, failure: Failure): Downfall {
  const known = input.downfalls.get(handle);
  if (known) return known;
  const downfall: Downfall = { cause: failure, smallerPlan: stepDown(input, { replica, shard, failure }), fallen: [] };
  input.downfalls.set(handle, downfall);
  return downfall;
}

/** The plan to go on with; undefined where none is left. A replica that failed under an older plan takes the one that others took since. */
async function stepDown(input: RecoveryInput, { replica, shard, failure }: { replica: Replica; shard: LedgerShard; failure: Failure }): Promise<Plan | undefined> {
  const { rung: help } = FAILURE_CLASSES[failure.class];
  if (!input.mayStepDown || !help) return undefined;
  const current = input.tried.at(-1) as Plan;
  if (replica.plan !== current) return current;
  const rung = nextRung(current, failure, input.tried);
  // Other replicas go on where they are, so a rung that lays the devices out anew is for the next start.
  if (!rung || (['data', 'tensor', 'pipeline'] as const).some((size) => rung[size] !== current[size])) return undefined;
  input.tried.push(rung);
  input.shards.forgetFailures();
  const from = input.events.history.rungs.length;
  const why = sayWhose(failure.message, current, describeReplica(replica));
  await input.events.append({ type: 'rung_taken', epoch: input.epoch, from, to: from + 1, why, shard: shard.id });
  await input.onRung(rung, `${RUNG_CAUSES[help]} (${why})`);
  return rung;
}

/** The plan of a strict run is part of what makes its results the same again, so it can only be another run's. */
function refuseSmaller({ tried }: RecoveryInput, { lease: { replica }, shard }: FailedAttempt, failure: Failure): AssayError {
  const plan = tried.at(-1) as Plan;
  const { name, logFile } = describeReplica(replica);
  const { maxNumBatchedTokens, maxNumSeqs } = nextRung(plan, failure, tried) ?? plan;
  const isSmaller = maxNumBatchedTokens < plan.maxNumBatchedTokens || maxNumSeqs < plan.maxNumSeqs;
  const smaller = isSmaller ? `with max_num_batched_tokens=${maxNumBatchedTokens},max_num_seqs=${maxNumSeqs} in model_args` : 'where there is more memory';
  return new AssayError('PROBE_OOM', {
    worker: name, log: logFile, class: failure.class,
    problem: `shard ${shard.id} ran out of memory in mid-run, where strict takes no smaller plan (${name}: ${failure.message})`,
    instead: `Give another --output_path, and run ${smaller} or with determinism: fast. The log is ${logFile}.`,
  });
}

/** What lacks memory under the last plan goes first as well; what ended its engine otherwise holds nobody up. */
async function applyVerdict(input: RecoveryInput, shard: LedgerShard, { verdict, failure }: { verdict: Verdict; failure: Failure }): Promise<void> {
  const agent = input.agent();
  const first = FAILURE_CLASSES[failure.class].rung !== false;
  switch (verdict.kind) {
    case 'retry':
      return agent.enqueue([verdict.shard], { first });
    case 'split':
      return agent.enqueue(verdict.halves, { first });
    case 'isolated':
      return agent.conclude(shard, 'done', [buildResult(input.index, verdict.row, 'rejected', failure)]);
    case 'exhausted':
      return agent.conclude(shard, 'failed', verdict.rows.map((row) => buildResult(input.index, row, 'engine_error', failure)));
  }
}

function buildResult(index: RequestIndex, row: number, outcome: Outcome, failure: Failure): Result {
  const { task, ordinal, repeat, window, contextTokens, continuationTokens } = index.columns;
  const length = (contextTokens[row] as number) + (continuationTokens[row] as number);
  const memory = failure.allocationBytes === undefined ? '' : `, wanted ${failure.allocationBytes} bytes`;
  return {
    row,
    task: task[row] as number,
    ordinal: ordinal[row] as number,
    repeat: repeat[row] as number,
    window: window[row] as number,
    outcome,
    message: `${failure.class}: ${failure.message} (prompt of ${length} tokens${memory})`,
  };
}
