// Looks at a Redis before anything relies on it: reachable, recent enough, keeps every key, can be written.
import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError } from '@assay/domain';
import type { Redis } from 'ioredis';
import { connect, describeAddress, type RedisAddress } from './redis-address.ts';

const MINIMUM_VERSION = [6, 2] as const;
const PROBE_KEY = 'assay:probe';
// Through a script, as every move of the queue is one: a user without that right, a replica or a full server shows here.
const PROBE_SCRIPT = "return redis.call('set', KEYS[1], ARGV[1], 'PX', 1000)";

/** Throws REDIS_UNREACHABLE, REDIS_VERSION, REDIS_POLICY or REDIS_FULL. */
export async function checkRedis(address: RedisAddress, { timeoutMs }: { timeoutMs: number }): Promise<{ version: string }> {
  const redis = connect(address, { retryStrategy: () => null, lazyConnect: true, connectTimeout: timeoutMs });
  let lastError: Error | undefined;
  redis.on('error', (error) => { lastError = error; });
  const timeout = new AbortController();
  try {
    const silence = sleep(timeoutMs, undefined, { signal: timeout.signal }).then(() => {
      throw new Error(`no answer within ${timeoutMs / 1000} s`);
    });
    const found = await Promise.race([inspect(redis), silence]);
    // A database that it does not have is only an event, and every command then goes to the first one.
    if (lastError) throw lastError;
    return found;
  } catch (error) {
    if (error instanceof AssayError) throw error;
    throw toRedisError(lastError ?? (error as Error), address);
  } finally {
    timeout.abort();
    redis.disconnect();
  }
}

/** OOM is REDIS_FULL, everything else says that this Redis cannot be used now. */
export function toRedisError(error: Error, address: RedisAddress): AssayError {
  if (isFull(error)) return new AssayError('REDIS_FULL', {}, { cause: error });
  // The greeting came with Redis 6.
  if (/unknown command.*hello/i.test(error.message)) return new AssayError('REDIS_VERSION', { version: 'before 6.0' }, { cause: error });
  return new AssayError('REDIS_UNREACHABLE', { url: describeAddress(address), problem: error.message }, { cause: error });
}

function isFull(error: Error): boolean {
  return /\bOOM\b/.test(error.message);
}

/** Throws what the server says when it cannot be written. */
export async function probeWrite(redis: Redis): Promise<void> {
  await redis.eval(PROBE_SCRIPT, 1, PROBE_KEY, '1');
}

async function inspect(redis: Redis): Promise<{ version: string }> {
  await redis.connect();
  const facts = parseInfo(await redis.info());
  const version = facts.get('redis_version') ?? '0';
  const policy = facts.get('maxmemory_policy') ?? 'unknown';
  if (!isRecent(version)) throw new AssayError('REDIS_VERSION', { version });
  if (policy !== 'noeviction') throw new AssayError('REDIS_POLICY', { policy });
  await probeWrite(redis);
  return { version };
}

function parseInfo(text: string): Map<string, string> {
  return new Map(text.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string]));
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1]);
}
