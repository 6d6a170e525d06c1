// Where Redis is, and how every connection to it behaves.
import { AssayError, redactText } from '@assay/domain';
import { Redis, type RedisOptions } from 'ioredis';

export type RedisAddress = { url: string } | { path: string };

const CONNECT_TIMEOUT_MS = 5_000;

interface RedisConnection {
  url?: string;
  path?: string;
  retryStrategy: (times: number) => number | null;
  maxRetriesPerRequest: null;
  connectTimeout: number;
}

/**
 * Options of a connection that outlives outages: commands wait for it to come back, until `isOver`. It tries again after
 * 200 ms, then ever later up to 2 s; BullMQ's own rule leaves an idle consumer asleep long after an outage.
 */
export function toConnection(address: RedisAddress, isOver: () => boolean = () => false): RedisConnection {
  const retryStrategy = (times: number) => (isOver() ? null : Math.min(200 * times, 2_000));
  return { ...address, retryStrategy, maxRetriesPerRequest: null, connectTimeout: CONNECT_TIMEOUT_MS };
}

export function connect(address: RedisAddress, options: Pick<RedisOptions, 'retryStrategy' | 'lazyConnect' | 'connectTimeout'> = {}): Redis {
  const { url, ...rest } = toConnection(address);
  const all = { ...rest, ...options };
  return url === undefined ? new Redis(all) : new Redis(url, all);
}

/** Reads REDIS_URL: redis://, rediss:// or unix:///path. Throws REDIS_UNREACHABLE for anything else. */
export function parseRedisUrl(url: string): RedisAddress {
  if (url.startsWith('/')) return { path: url };
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'unix:') return { path: decodeURIComponent(new URL(url).pathname) };
  if (protocol === 'redis:' || protocol === 'rediss:') return { url };
  throw new AssayError('REDIS_UNREACHABLE', { url: redactText(url), problem: 'not a redis://, rediss:// or unix:// address' });
}

/** For people: without the password. */
export function describeAddress(address: RedisAddress): string {
  return 'path' in address ? address.path : redactText(address.url);
}
