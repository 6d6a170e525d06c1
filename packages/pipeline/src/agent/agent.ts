// The agent: leases shards from the queue, has the engine workers run them, and stores what they say. It alone writes results.
import { type AttemptKey, type AttemptOutcome, formatAttempt, isEndState } from '@assay/domain';
import type { Result, ResultsMessage, ShardDone, ShardAttempt } from '@assay/protocol';
import type { ShardQueue } from '@assay/queue';
import { openResultWriter, readResults, type EventLog, type ResultLedger, type ResultWriter, scanAttempt } from '@assay/store';
import { WorkerFailure } from '@assay/workers';
import { describeFailure } from './describe-failure.ts';
import type { EnginePool, Lease, Replica } from './engine-pool.ts';
import type { LedgerShard, ShardLedger } from './shard-ledger.ts';

interface AgentInput {
  dir: string;
  runId: string;
  epoch: number;
  orderFile: string;
  events: EventLog;
  queue: ShardQueue;
  pool: EnginePool;
  shards: ShardLedger;
  results: ResultLedger;
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

export interface AttemptReport {
  shard: LedgerShard;
  attempt: number;
  worker: string;
  outcome: AttemptOutcome;
  /** From its lease to its start in an engine, from there to the engine's last word, and from that until its results count. */
  seconds: { wait: number; engine: number; commit?: number };
  /** Results stored by it. */
  results: number;
  done?: ShardDone;
  failure?: WorkerFailure;
}

export interface FailedAttempt {
  shard: LedgerShard;
  lease: Lease;
  failure: WorkerFailure;
}

interface Attempt {
  shard: LedgerShard;
  number: number;
  replica: Replica;
  worker: string;
  leasedAtMs: number;
  startedAtMs: number;
  /** When the engine had said its last word on it. */
  answeredAtMs: number | undefined;
  writer: ResultWriter;
  appends: Promise<void>[];
  results: number;
}

export class Agent {
  readonly #input: AgentInput;
  readonly #attempts = new Map<string, Attempt>();
  /** Shards that are leased or running, by when they were leased. */
  readonly #leasedAtMs = new Map<LedgerShard, number>();
  #beginning: Promise<unknown> = Promise.resolve();
  readonly #idle = Promise.withResolvers<void>();
  #fatal: unknown;

  constructor(input: AgentInput) {
    this.#input = input;
    this.#idle.promise.catch(() => undefined);
  }

  /** Puts shards on the queue, each under its current attempt. */
  async enqueue(shards: readonly LedgerShard[]): Promise<void> {
    const { runId, epoch, orderFile, queue } = this.#input;
    await queue.add(shards.map(({ id, attempt, begin, end }) => ({ runId, epoch, shard: id, attempt, orderFile, begin, end })));
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
    const running = this.#attempts.get(formatAttempt(key));
    if (!running) return;
    const durable = running.writer.append(results).then(() => {
      running.results += results.length;
      this.#input.pool.noteProgress(running.replica);
      if (!this.#input.isAtomic) this.#input.onResults(results, Date.now());
    });
    durable.catch((thrown: unknown) => this.fail(thrown));
    running.appends.push(durable);
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
    const key = formatAttempt(this.#keyOf(attempt));
    this.#attempts.set(key, attempt);
    const cancel = () => lease.handle.send({ type: 'cancel', shard: shard.id, attempt: attempt.number });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const done = await lease.handle.request(this.#command(shard, attempt.number)).finally(() => { attempt.answeredAtMs = Date.now(); });
      // Closing syncs what the writer still holds back; waiting for the appends first would wait for its timer.
      await attempt.writer.close();
      await Promise.all(attempt.appends);
      await this.#commit(attempt, done);
    } catch (thrown) {
      this.#attempts.delete(key);
      await attempt.writer.close();
      await this.#end(attempt, lease, { thrown, signal });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#attempts.delete(key);
    }
  }

  /** One after the other, so that shards reach their engines in the order in which they were leased, the longest first. */
  #beginInTurn(shard: LedgerShard, lease: Lease): Promise<Attempt> {
    const begun = this.#beginning.then(() => this.#begin(shard, lease));
    this.#beginning = begun.catch(() => undefined);
    return begun;
  }

  async #begin(shard: LedgerShard, { replica, handle: { name: worker } }: Lease): Promise<Attempt> {
    const { dir, epoch, events, isAtomic, results, shards } = this.#input;
    const number = await events.beginAttempt({ shard: shard.id, worker, begin: shard.begin, end: shard.end });
    const options = { dir, epoch, shard: shard.id, attempt: number };
    // In strict the ledger takes the file in at once, when the shard is whole.
    const writer = await openResultWriter(isAtomic ? options : { ...options, ledger: results });
    shards.move(shard, 'running');
    this.#input.onShardStarted();
    const startedAtMs = Date.now();
    const leasedAtMs = this.#leasedAtMs.get(shard) ?? startedAtMs;
    return { shard, number, replica, worker, leasedAtMs, startedAtMs, answeredAtMs: undefined, writer, appends: [], results: 0 };
  }

  /** Ends a shard with results that no engine gave: a request that cannot be run, or tries that are used up. */
  async conclude(shard: LedgerShard, to: 'done' | 'failed', results: readonly Result[]): Promise<void> {
    const { dir, epoch, events, shards } = this.#input;
    shards.move(shard, 'leased');
    const attempt = await events.beginAttempt({ shard: shard.id, worker: 'agent', begin: shard.begin, end: shard.end });
    const writer = await openResultWriter({ dir, epoch, shard: shard.id, attempt, ledger: this.#input.results });
    await Promise.all([writer.append(results), writer.close()]);
    this.#input.onResults(results, Date.now());
    shards.move(shard, 'running');
    shards.move(shard, to);
  }

  #command(shard: LedgerShard, attempt: number) {
    const { epoch, orderFile, shards } = this.#input;
    const { id, begin, end } = shard;
    return { type: 'shard' as const, shard: id, epoch, attempt, orderFile, begin, end, skip: shards.finalRowsOf(shard) };
  }

  async #commit(attempt: Attempt, done: ShardDone): Promise<void> {
    const { dir, events, results, shards, isAtomic } = this.#input;
    const { shard } = attempt;
    const { type, id, firstStepAt, ...facts } = done;
    await events.append({ type: 'shard_done', ...facts });
    if (isAtomic) {
      await scanAttempt(dir, { ledger: results, attempt: done, history: events.history });
      this.#input.onResults(await readResults(dir, results, shards.rowsOf(shard)), Date.now());
    }
    shards.move(shard, 'done');
    this.#report(attempt, { outcome: 'done', done });
  }

  async #end(attempt: Attempt, lease: Lease, { thrown, signal }: { thrown: unknown; signal: AbortSignal }): Promise<void> {
    const { shard, worker } = attempt;
    const key = this.#keyOf(attempt);
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    await this.#input.events.append({ type: 'shard_fenced', ...key, bytes: attempt.writer.bytes, reason });
    const isWithdrawn = signal.aborted || this.#input.ending.aborted;
    const failure = thrown instanceof WorkerFailure && !isWithdrawn ? thrown : undefined;
    this.#report(attempt, { outcome: isWithdrawn ? 'withdrawn' : 'failed', ...(failure ? { failure } : {}) });
    if (isWithdrawn) return this.#setBack(shard);
    if (!failure) throw thrown;
    await this.#input.events.append({ type: 'attempt_failed', ...key, worker, failure: describeFailure(failure) });
    // The lease is held until its engine is replaced: a shard that took its place would be blamed for the same death.
    await this.#input.recover({ shard, lease, failure });
  }

  #keyOf({ shard, number }: Attempt): AttemptKey {
    return { epoch: this.#input.epoch, shard: shard.id, attempt: number };
  }

  #report(attempt: Attempt, how: Pick<AttemptReport, 'outcome' | 'done' | 'failure'>): void {
    const { shard, number, worker, leasedAtMs, startedAtMs, results } = attempt;
    const nowMs = Date.now();
    const answeredAtMs = attempt.answeredAtMs ?? nowMs;
    const seconds = { wait: (startedAtMs - leasedAtMs) / 1000, engine: (answeredAtMs - startedAtMs) / 1000, ...(how.done ? { commit: (nowMs - answeredAtMs) / 1000 } : {}) };
    this.#input.onShardEnded({ shard, attempt: number, worker, seconds, results, ...how });
  }

  #setBack(shard: LedgerShard): void {
    if (shard.state === 'leased' || shard.state === 'running') this.#input.shards.renew(shard);
  }
}
