// The port through which shards travel from the scheduler to agents. It carries who does what, and no truth about what is
// done: that lives in the run directory, from which a queue that was lost is filled again.
import type { AttemptKey } from '@assay/domain';
import type { ShardAttempt } from '@assay/protocol';

export interface QueueCounts {
  /** Shards nobody has taken. */
  waiting: number;
  /** Shards that a consumer holds, or held when it died. */
  leased: number;
  paused: boolean;
}

export interface ConsumeOptions {
  /** Leases held at once. */
  concurrency: number;
  /**
   * Runs one attempt. Called once in this consumer for each attempt, however often it is delivered. Resolving acknowledges
   * it, so store results first; rejecting gives it up. `signal` aborts when the attempt is withdrawn, when this consumer closes
   * without draining, and when another consumer has taken the lease over: then nothing more may be committed.
   */
  run(attempt: ShardAttempt, signal: AbortSignal): Promise<void>;
  /** A lease ran out, because its holder died or could not renew it; the attempt is delivered again. */
  onStalled?(attempt: AttemptKey): void;
  /** The attempt ended and `run` did not resolve: it threw, or its holders died too often. It is not delivered again. */
  onGivenUp?(attempt: AttemptKey, problem: string): void;
}

export interface ShardConsumer {
  /**
   * Takes nothing more, and resolves once nothing runs and the acknowledgements are through, or could not be sent within a
   * limit. `drain`: lets what runs finish; otherwise aborts it first.
   */
  close(drain: boolean): Promise<void>;
}

/** Where nothing else is said, a method rejects with REDIS_UNREACHABLE while Redis is away. */
export interface ShardQueue {
  /**
   * Adds the attempts in order, behind those that wait, or `first`: before them. Resolves when all are queued; waits while Redis
   * is away or full. An attempt that is queued or leased already is left as it is, so after an outage it is safe to add every
   * open shard again.
   */
  add(attempts: readonly ShardAttempt[], options?: { first: boolean }): Promise<void>;
  /** Starts to deliver attempts, each at least once, to one consumer at a time as long as that renews its lease. Lasts through outages. */
  consume(options: ConsumeOptions): Promise<ShardConsumer>;
  counts(): Promise<QueueCounts>;
  /** Nothing more is delivered to any consumer; what runs goes on. Survives a restart of Redis. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Withdraws attempts: removes those that wait, aborts those that run in consumers of this object. One that was withdrawn stays so. */
  cancel(attempts: readonly AttemptKey[]): Promise<void>;
  /** Deletes every key of this run. Close the consumers first. */
  clear(): Promise<void>;
  /** Closes the consumers without draining, then every connection. */
  close(): Promise<void>;
}
