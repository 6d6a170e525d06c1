// Tells whether Redis can be used. One line when it cannot, one when it can again, whatever the number of failing commands.
import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError, type Log } from '@assay/domain';
import type { Redis } from 'ioredis';
import { limitLines } from './limit-lines.ts';
import { connect, describeAddress, type RedisAddress } from './redis-address.ts';
import { probeWrite, toRedisError } from './redis-check.ts';

const READY_TIMEOUT_MS = 5_000;
const PROBE_MS = 1_000;
// What follows from a lease that ran out, or from a connection that `close` reports already.
const HARMLESS = /lock|Missing key|not in the active state|Connection is closed|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|LOADING/i;

interface HealthOptions {
  address: RedisAddress;
  log: Log;
  onTrouble?: ((error: AssayError) => void) | undefined;
  onRecovered?: (() => void) | undefined;
}

/** A server that refuses commands is asked again and again, so its clients have to stop; one that is away they wait for. */
export type Trouble = 'away' | 'refuses';

export class RedisHealth {
  readonly redis: Redis;
  readonly #options: HealthOptions;
  readonly #warn: (fields: object, message: string) => void;
  readonly #listeners = new Set<(trouble: Trouble | undefined) => void>();
  #trouble: Trouble | undefined;
  #isClosed = false;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#warn = limitLines((fields, message) => options.log.warn(fields, message));
    this.redis = connect(options.address);
    this.redis.on('error', (error) => this.#warn({ problem: error.message }, 'Redis connection'));
  }

  /** Throws REDIS_UNREACHABLE when there is no connection after five seconds. */
  async start(): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (this.redis.status !== 'ready') {
      if (Date.now() > deadline) throw toRedisError(new Error(`no connection within ${READY_TIMEOUT_MS / 1000} s`), this.#options.address);
      await sleep(10);
    }
    this.redis.on('close', () => this.#enter('away', toRedisError(new Error('connection lost'), this.#options.address)));
    this.redis.on('ready', () => this.#leave());
  }

  get isWell(): boolean {
    return this.#trouble === undefined;
  }

  listen(listener: (trouble: Trouble | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes an error of any connection. */
  report(error: Error): void {
    if (this.#isClosed || HARMLESS.test(error.message)) {
      this.#options.log.debug({ problem: error.message }, 'queue');
      return;
    }
    this.#warn({ problem: error.message }, 'Redis refused a command');
    this.#enter('refuses', toRedisError(error, this.#options.address));
  }

  /** Repeats a command that may be repeated until it goes through; gives up when this is closed. */
  async insist<Value>(command: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await command();
      } catch (error) {
        if (this.#isClosed || error instanceof AssayError) throw error;
        this.report(error as Error);
        await sleep(PROBE_MS / 10);
        await this.#whenWell();
      }
    }
  }

  /** Runs a command that must not wait: rejects while Redis is away, also when it goes away meanwhile. */
  async attempt<Value>(command: () => Promise<Value>): Promise<Value> {
    const away = Promise.withResolvers<never>();
    const fail = () => away.reject(toRedisError(new Error('connection lost'), this.#options.address));
    const stop = this.listen((trouble) => { if (trouble === 'away') fail(); });
    if (this.#trouble === 'away') fail();
    try {
      return await Promise.race([away.promise, this.#trouble === 'away' ? away.promise : command()]);
    } finally {
      stop();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.redis.disconnect();
    for (const listener of this.#listeners) listener(undefined);
  }

  #whenWell(): Promise<void> {
    if (this.isWell) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.listen((trouble) => {
        if (trouble !== undefined) return;
        stop();
        resolve();
      });
    });
  }

  #enter(trouble: Trouble, error: AssayError): void {
    if (this.#isClosed || this.#trouble !== undefined) return;
    this.#trouble = trouble;
    this.#options.log.warn({ code: error.code, redis: describeAddress(this.#options.address) }, `${error.message}; waiting for it`);
    this.#options.onTrouble?.(error);
    for (const listener of this.#listeners) listener(trouble);
    if (trouble === 'refuses') void this.#probe();
  }

  async #probe(): Promise<void> {
    while (!this.#isClosed) {
      await sleep(PROBE_MS, undefined, { ref: false });
      const works = await probeWrite(this.redis).then(() => true, () => false);
      if (works) return this.#leave();
    }
  }

  #leave(): void {
    if (this.#isClosed || this.isWell) return;
    this.#trouble = undefined;
    this.#options.log.info({ redis: describeAddress(this.#options.address) }, 'Redis can be used again');
    for (const listener of this.#listeners) listener(undefined);
    this.#options.onRecovered?.();
  }
}
