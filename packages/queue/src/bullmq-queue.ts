// The shard queue on BullMQ, one queue a run. A job lives from `add` to its acknowledgement and leaves nothing behind, so a
// job that exists is open and an id can be used again.
import type { AssayError, AttemptKey, Log } from '@assay/domain';
import { type ShardAttempt, shardAttemptSchema } from '@assay/protocol';
import { type BulkJobOptions, Job, Queue } from 'bullmq';
import { BullmqConsumer, LEASE_TIMING, type LeaseTiming } from './bullmq-consumer.ts';
import { escapeId, toQueueId } from './queue-id.ts';
import { type RedisAddress, toConnection } from './redis-address.ts';
import { RedisHealth } from './redis-health.ts';
import type { ConsumeOptions, QueueCounts, ShardConsumer, ShardQueue } from './shard-queue.ts';

const PREFIX = 'bull';
const PAYLOAD_BYTES = 64 << 10;
const ADD_AT_ONCE = 500;
const EVENTS_KEPT = 100;
// BullMQ never retries by itself: a stall does not use its attempts, so the agent counts them, crashes included.
const JOB_OPTIONS: BulkJobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true, sizeLimit: PAYLOAD_BYTES, stackTraceLimit: 1 };

export interface ShardQueueOptions {
  runId: string;
  redis: RedisAddress;
  log: Log;
  /** Redis is away, full or refuses: everything waits. Called once until `onRecovered`. */
  onTrouble?: (error: AssayError) => void;
  /** Redis can be used again. It may have lost what it held: add the open shards again. */
  onRecovered?: () => void;
  timing?: Partial<LeaseTiming>;
}

/** Throws REDIS_UNREACHABLE when there is no connection within five seconds. */
export async function createShardQueue({ runId, redis, timing, ...options }: ShardQueueOptions): Promise<ShardQueue> {
  const health = new RedisHealth({ address: redis, ...options });
  try {
    await health.start();
    return new BullmqQueue({ runId, redis, health, log: options.log, timing: { ...LEASE_TIMING, ...timing } });
  } catch (error) {
    health.close();
    throw error;
  }
}

interface QueueInput {
  runId: string;
  redis: RedisAddress;
  health: RedisHealth;
  log: Log;
  timing: LeaseTiming;
}

class BullmqQueue implements ShardQueue {
  readonly #input: QueueInput;
  readonly #queue: Queue;
  readonly #consumers = new Set<BullmqConsumer>();
  #isOver = false;

  constructor(input: QueueInput) {
    this.#input = input;
    this.#queue = new Queue(`assay-${escapeId(input.runId)}`, {
      connection: toConnection(input.redis, () => this.#isOver),
      prefix: PREFIX,
      skipMetasUpdate: true,
    });
    this.#queue.on('error', (error) => input.health.report(error));
  }

  async add(attempts: readonly ShardAttempt[], { first }: { first: boolean } = { first: false }): Promise<void> {
    // Each job that is put first goes before those put there until then.
    const inTurn = first ? attempts.toReversed() : attempts;
    const jobs = inTurn.map((attempt) => ({ name: 'shard', data: shardAttemptSchema.parse(attempt), opts: { ...JOB_OPTIONS, lifo: first, jobId: this.#idOf(attempt) } }));
    const { health } = this.#input;
    // The event stream is for other readers, and would grow with every job.
    await health.insist(() => health.redis.hset(this.#queue.toKey('meta'), 'opts.maxLenEvents', EVENTS_KEPT));
    for (let begin = 0; begin < jobs.length; begin += ADD_AT_ONCE) {
      await health.insist(() => this.#queue.addBulk(jobs.slice(begin, begin + ADD_AT_ONCE)));
    }
  }

  async consume(options: ConsumeOptions): Promise<ShardConsumer> {
    const { redis, health, log, timing } = this.#input;
    const consumer = new BullmqConsumer({
      queueName: this.#queue.name,
      redis,
      timing,
      health,
      log,
      options,
      findHolder: async (id) => (await Job.fromId(this.#queue, id))?.processedBy,
    });
    this.#consumers.add(consumer);
    await consumer.start();
    return consumer;
  }

  async counts(): Promise<QueueCounts> {
    return this.#input.health.attempt(async () => {
      const { waiting = 0, active = 0 } = await this.#queue.getJobCounts('waiting', 'active');
      return { waiting, leased: active, paused: await this.#queue.isPaused() };
    });
  }

  async pause(): Promise<void> {
    await this.#input.health.attempt(() => this.#queue.pause());
  }

  async resume(): Promise<void> {
    await this.#input.health.attempt(() => this.#queue.resume());
  }

  async cancel(attempts: readonly AttemptKey[]): Promise<void> {
    const ids = attempts.map((attempt) => this.#idOf(attempt));
    // Those that wait go first, or the end of one that runs would bring the next.
    await this.#input.health.attempt(async () => {
      for (const id of ids) await this.#queue.remove(id);
    });
    for (const consumer of this.#consumers) ids.forEach((id) => consumer.cancel(id));
  }

  async clear(): Promise<void> {
    const { redis } = this.#input.health;
    const pattern = `${escapePattern(this.#queue.toKey(''))}*`;
    await this.#input.health.attempt(async () => {
      for await (const keys of redis.scanStream({ match: pattern, count: 1000 }) as AsyncIterable<string[]>) {
        if (keys.length > 0) await redis.unlink(keys);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.close(false)));
    this.#isOver = true;
    this.#input.health.close();
    await this.#queue.getBackend().close(true).catch(() => undefined);
  }

  #idOf(attempt: AttemptKey): string {
    return toQueueId(this.#input.runId, attempt);
  }
}

function escapePattern(key: string): string {
  return key.replace(/[\\*?[\]]/g, '\\$&');
}
