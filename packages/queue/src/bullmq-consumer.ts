// Takes attempts from BullMQ. Node holds the lease and renews it; what runs is elsewhere.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@assay/domain';
import { shardAttemptSchema } from '@assay/protocol';
import { Worker } from 'bullmq';
import { DeliveryLedger } from './delivery-ledger.ts';
import { parseQueueId } from './queue-id.ts';
import { type RedisAddress, toConnection } from './redis-address.ts';
import type { RedisHealth, Trouble } from './redis-health.ts';
import type { ConsumeOptions, ShardConsumer } from './shard-queue.ts';

/** How long a lease lasts without renewal, and how often dead holders are looked for. */
export interface LeaseTiming {
  lockMs: number;
  stalledIntervalMs: number;
  /** Holders of one attempt that may die before it is given up. */
  maxStalls: number;
  /** How long `close` waits for acknowledgements. */
  closeMs: number;
}

export const LEASE_TIMING: LeaseTiming = { lockMs: 15_000, stalledIntervalMs: 5_000, maxStalls: 2, closeMs: 5_000 };

const MAX_STARTS = 10;
const RETRY_MS = 1_000;
const PROBLEM_LENGTH = 1_000;

interface ConsumerInput {
  queueName: string;
  redis: RedisAddress;
  timing: LeaseTiming;
  health: RedisHealth;
  log: Log;
  options: ConsumeOptions;
  /** Name of the consumer that holds the attempt now. */
  findHolder(id: string): Promise<string | undefined>;
}

export class BullmqConsumer implements ShardConsumer {
  readonly #input: ConsumerInput;
  readonly #name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #ledger = new DeliveryLedger();
  readonly #worker: Worker;
  readonly #stopListening: () => void;
  #closed: Promise<void> | undefined;
  readonly #aborted = Promise.withResolvers<void>();
  #isOver = false;

  constructor(input: ConsumerInput) {
    this.#input = input;
    const { queueName, redis, timing, options } = input;
    this.#worker = new Worker(queueName, (delivery) => this.#deliver(delivery), {
      connection: toConnection(redis, () => this.#isOver),
      name: this.#name,
      concurrency: options.concurrency,
      lockDuration: timing.lockMs,
      stalledInterval: timing.stalledIntervalMs,
      maxStalledCount: timing.maxStalls,
      maxStartedAttempts: MAX_STARTS,
      runRetryDelay: RETRY_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', (error) => input.health.report(error));
    this.#worker.on('stalled', (id) => this.#noteStall(id));
    this.#worker.on('failed', (delivery, error) => this.#noteEnd(delivery?.id, error));
    this.#worker.on('lockRenewalFailed', (ids) => void this.#checkLeases(ids));
    this.#stopListening = input.health.listen((trouble) => this.#adapt(trouble));
  }

  async start(): Promise<void> {
    await this.#worker.waitUntilReady();
  }

  cancel(id: string): void {
    this.#ledger.cancel(id, 'the attempt was withdrawn');
  }

  close(drain: boolean): Promise<void> {
    if (!drain) {
      this.#ledger.abortAll('the consumer closes');
      this.#aborted.resolve();
    }
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopListening();
    const acknowledged = this.#worker.close().catch((error: Error) => this.#input.health.report(error));
    // A run that is to finish may take its time; one that was aborted may not.
    await Promise.race([this.#ledger.settle(), this.#aborted.promise.then(() => sleep(this.#input.timing.closeMs, undefined, { ref: false }))]);
    await settlesWithin(acknowledged, this.#input.timing.closeMs);
    // Where Redis is away the acknowledgements would wait for it; their leases run out and the run directory knows better.
    this.#isOver = true;
    await settlesWithin(this.#worker.getBackend().close(true).catch(() => undefined), this.#input.timing.closeMs);
  }

  async #deliver(delivery: { id?: string | undefined; data: unknown }): Promise<void> {
    const attempt = shardAttemptSchema.parse(delivery.data);
    await this.#ledger.deliver(delivery.id ?? '', (signal) => this.#input.options.run(attempt, signal).catch(rethrowShort));
  }

  #noteStall(id: string): void {
    const attempt = parseQueueId(id);
    this.#input.log.warn({ ...attempt }, 'a lease ran out; the shard is delivered again');
    if (attempt !== undefined) this.#input.options.onStalled?.(attempt);
  }

  #noteEnd(id: string | undefined, error: Error): void {
    const attempt = id === undefined ? undefined : parseQueueId(id);
    if (id !== undefined && this.#ledger.answersFor(id)) return;
    this.#input.log.warn({ ...attempt, problem: error.message }, 'a shard attempt was given up');
    if (attempt !== undefined) this.#input.options.onGivenUp?.(attempt, error.message);
  }

  /** A lost lease does no harm until somebody else has it: what comes back to this consumer joins the run it has. */
  async #checkLeases(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const holder = await this.#input.findHolder(id).catch(() => undefined);
      if (holder !== undefined && holder !== this.#name) this.#ledger.abort(id, 'another consumer has taken the lease over');
    }
  }

  #adapt(trouble: Trouble | undefined): void {
    if (trouble === 'refuses') void this.#worker.pause(true);
    if (trouble === undefined && this.#worker.isPaused()) void this.#worker.resume();
  }
}

async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([promise, sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}

/** Error texts land in Redis: fifty kilobytes of stack times a thousand shards would fill it. */
function rethrowShort(thrown: unknown): never {
  const error = new Error((thrown instanceof Error ? thrown.message : String(thrown)).slice(0, PROBLEM_LENGTH));
  error.stack = error.message;
  throw error;
}
