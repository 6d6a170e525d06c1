// The agent: leases shards from the queue, has the engine workers run them, and stores what they say. It alone writes results.
import { formatAttempt, isEndState } from '@assay/domain';
import type { Result, ResultsMessage, ShardAttempt } from '@assay/protocol';
import type { ShardQueue } from '@assay/queue';
import { WorkerFailure } from '@assay/workers';
import { type Attempt, type AttemptReport, type AttemptStore, beginAttempt } from './attempt.ts';
import { describeFailure } from './describe-failure.ts';
import type { EnginePool } from './engine-pool.ts';
import type { Lease, Replica } from './replica.ts';
import type { LedgerShard, ShardLedger } from './shard-ledger.ts';

interface AgentInput extends AttemptStore {
  runId: string;
  orderFile: string;
  queue: ShardQueue;
  pool: EnginePool;
  shards: ShardLedger;
  /** strict: the results of a shard count when it is whole. */
  isAtomic: boolean;
  /** Aborted when the run is to end before its work does: attempts that end from then on are nobody's fault. */
  ending: AbortSignal;
  /** Results that have become durable. */
  onResults(results: readonly Result[], atMs: number): void;
  onShardStarted(): void;
  onShardEnded(report: AttemptReport): void;
  /** Decides how a shard's failed attempt goes on; may restart the engine. */
  recover(failed: FailedAttempt): Promise<void>;
}

export interface FailedAttempt {
  shard: LedgerShard;
  lease: Lease;
  failure: WorkerFailure;
}

interface Running {
  attempt: Attempt;
  replica: Replica;
}

export class Agent {
  readonly #input: AgentInput;
  readonly #running = new Map<string, Running>();
  /** Shards that are leased or running, by when they were leased. */
  readonly #leasedAtMs = new Map<LedgerShard, number>();
  #beginning: Promise<unknown> = Promise.resolve();
  readonly #idle = Promise.withResolvers<void>();
  #fatal: unknown;

  constructor(input: AgentInput) {
    this.#input = input;
    this.#idle.promise.catch(() => undefined);
  }

  /** Puts shards on the queue, each under its current attempt; `first`: before all that wait. */
  async enqueue(shards: readonly LedgerShard[], options = { first: false }): Promise<void> {
    const { runId, epoch, orderFile, queue } = this.#input;
    await queue.add(shards.map(({ id, attempt, begin, end }) => ({ runId, epoch, shard: id, attempt, orderFile, begin, end })), options);
  }

  /** Puts every shard that has not ended on the queue; one that is there already is left as it is. */
  async enqueueOpen(): Promise<void> {
    await this.enqueue([...this.#input.shards.shards.values()].filter(({ state }) => !isEndState('shard', state)));
  }

  /** Resolves when every shard has ended; rejects with what makes going on impossible. */
  get finished(): Promise<void> {
    return this.#idle.promise;
  }

  get oldestLeaseAtMs(): number | undefined {
    return this.#leasedAtMs.values().next().value;
  }

  fail(thrown: unknown): void {
    this.#fatal ??= thrown;
    this.#idle.reject(this.#fatal);
  }

  /** Stores what a worker streamed. An attempt that was withdrawn is no longer listened to. */
  handleResults({ results, ...key }: ResultsMessage): void {
    const running = this.#running.get(formatAttempt(key));
    running?.attempt.append(results, () => {
      this.#input.pool.noteProgress(running.replica);
      if (!this.#input.isAtomic) this.#input.onResults(results, Date.now());
    }).catch((thrown: unknown) => this.fail(thrown));
  }

  /** Runs one leased shard attempt to its end. Never throws for what an attempt can meet: the shard is then queued again. */
  async runShard(leased: ShardAttempt, signal: AbortSignal): Promise<void> {
    const shard = this.#input.shards.find(leased.shard, leased.attempt);
    // Not pending: the queue gave the same attempt out twice, and its first holder is at work.
    if (!shard || shard.state !== 'pending') return;
    this.#input.shards.move(shard, 'leased');
    this.#leasedAtMs.set(shard, Date.now());
    const withdrawn = AbortSignal.any([signal, this.#input.ending]);
    try {
      const lease = await this.#input.pool.lease({ solo: shard.solo, signal: withdrawn });
      await this.#attempt(shard, lease, signal).finally(() => lease.release());
    } catch (thrown) {
      this.#setBack(shard);
      if (!withdrawn.aborted) this.fail(thrown);
    } finally {
      this.#leasedAtMs.delete(shard);
    }
    if (this.#input.shards.openCount() === 0) this.#idle.resolve();
  }

  async #attempt(shard: LedgerShard, lease: Lease, signal: AbortSignal): Promise<void> {
    const attempt = await this.#beginInTurn(shard, lease);
    const key = formatAttempt(attempt.key);
    this.#running.set(key, { attempt, replica: lease.replica });
    const cancel = () => lease.handle.send({ type: 'cancel', shard: shard.id, attempt: attempt.number });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const done = await lease.handle.request(this.#command(shard, attempt.number)).finally(() => attempt.noteAnswered());
      await attempt.finish();
      const counted = await attempt.commit(done);
      if (counted.length > 0) this.#input.onResults(counted, Date.now());
      this.#input.shards.move(shard, 'done');
      this.#input.onShardEnded(attempt.report({ outcome: 'done', done }));
    } catch (thrown) {
      this.#running.delete(key);
      await this.#end(attempt, lease, { thrown, signal });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#running.delete(key);
    }
  }

  /** One after the other, so that shards reach their engines in the order in which they were leased, the longest first. */
  #beginInTurn(shard: LedgerShard, lease: Lease): Promise<Attempt> {
    const begun = this.#beginning.then(() => this.#begin(shard, lease));
    this.#beginning = begun.catch(() => undefined);
    return begun;
  }

  async #begin(shard: LedgerShard, { handle }: Lease): Promise<Attempt> {
    const { isAtomic, shards } = this.#input;
    const attempt = await beginAttempt(this.#input, { shard, worker: handle.name, countsWhole: isAtomic, leasedAtMs: this.#leasedAtMs.get(shard) });
    shards.move(shard, 'running');
    this.#input.onShardStarted();
    return attempt;
  }

  /** Ends a shard with results that no engine gave: a request that cannot be run, or tries that are used up. */
  async conclude(shard: LedgerShard, to: 'done' | 'failed', results: readonly Result[]): Promise<void> {
    const { shards } = this.#input;
    shards.move(shard, 'leased');
    const attempt = await beginAttempt(this.#input, { shard, worker: 'agent', countsWhole: false });
    await Promise.all([attempt.append(results), attempt.finish()]);
    this.#input.onResults(results, Date.now());
    shards.move(shard, 'running');
    shards.move(shard, to);
  }

  #command(shard: LedgerShard, attempt: number) {
    const { epoch, orderFile, shards } = this.#input;
    const { id, begin, end } = shard;
    return { type: 'shard' as const, shard: id, epoch, attempt, orderFile, begin, end, skip: shards.finalRowsOf(shard) };
  }

  async #end(attempt: Attempt, lease: Lease, { thrown, signal }: { thrown: unknown; signal: AbortSignal }): Promise<void> {
    const { shard, worker } = attempt;
    await attempt.fence(thrown instanceof Error ? thrown.message : String(thrown));
    const isWithdrawn = signal.aborted || this.#input.ending.aborted;
    const failure = thrown instanceof WorkerFailure && !isWithdrawn ? thrown : undefined;
    this.#input.onShardEnded(attempt.report({ outcome: isWithdrawn ? 'withdrawn' : 'failed', ...(failure ? { failure } : {}) }));
    if (isWithdrawn) return this.#setBack(shard);
    if (!failure) throw thrown;
    await this.#input.events.append({ type: 'attempt_failed', ...attempt.key, worker, failure: describeFailure(failure) });
    // The lease is held until its engine is replaced: a shard that took its place would be blamed for the same death.
    await this.#input.recover({ shard, lease, failure });
  }

  #setBack(shard: LedgerShard): void {
    if (shard.state === 'leased' || shard.state === 'running') this.#input.shards.renew(shard);
  }
}
