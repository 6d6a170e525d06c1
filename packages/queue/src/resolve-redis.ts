// Finds a Redis: the one that is given, else a server on PATH, else the embedded one. Nothing is downloaded.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { AssayError, toAssayError } from '@assay/domain';
import { type OwnRedisOptions, type RedisServer, startOwnRedis } from './own-redis.ts';
import { describeAddress, parseRedisUrl } from './redis-address.ts';
import { checkRedis } from './redis-check.ts';

const PROGRAMS = ['valkey-server', 'redis-server'];
const GIVEN_TIMEOUT_MS = 5_000;

export interface ResolveOptions extends Omit<OwnRedisOptions, 'program'> {
  env: Readonly<Record<string, string | undefined>>;
  /** Path of the server that the set-up brought. */
  embeddedServer?: string | undefined;
}

/**
 * Throws REDIS_UNREACHABLE, REDIS_VERSION, REDIS_POLICY or REDIS_FULL for one that is given, REDIS_MISSING when there is none;
 * a program that does not start (REDIS_START) or is too old is passed over while there is another.
 */
export async function resolveRedis({ env, embeddedServer, ...own }: ResolveOptions): Promise<RedisServer> {
  const url = env['REDIS_URL'];
  if (url) return useGiven(url);
  let problem: unknown = new AssayError('REDIS_MISSING');
  for (const program of findPrograms(env['PATH'] ?? '', embeddedServer)) {
    try {
      return await startOwnRedis({ ...own, program });
    } catch (error) {
      problem = error;
      own.log.warn({ program, problem: (error as Error).message }, 'this Redis cannot be used');
    }
  }
  throw problem;
}

export interface RedisFacts {
  source: 'REDIS_URL' | 'PATH' | 'set-up' | 'none';
  /** Address without credentials, or the program that a run would try first. */
  place: string | null;
  /** Why the given one cannot be used; null where it can. A program is not started to find out. */
  problem: string | null;
  /** What to do about it. */
  remedy: string | null;
}

const NO_PROBLEM = { problem: null, remedy: null } as const;

/** Which Redis a run would use: a given one is asked, as a run would. */
export async function examineRedis({ env, embeddedServer }: Pick<ResolveOptions, 'env' | 'embeddedServer'>): Promise<RedisFacts> {
  const url = env['REDIS_URL'];
  if (url) return examineGiven(url);
  const [place] = findPrograms(env['PATH'] ?? '', embeddedServer);
  if (place === undefined) return { source: 'none', place: null, ...NO_PROBLEM };
  return { source: place === embeddedServer ? 'set-up' : 'PATH', place, ...NO_PROBLEM };
}

async function examineGiven(url: string): Promise<RedisFacts> {
  try {
    const { address } = await useGiven(url);
    return { source: 'REDIS_URL', place: describeAddress(address), ...NO_PROBLEM };
  } catch (thrown) {
    const { message, remedy } = toAssayError(thrown);
    return { source: 'REDIS_URL', place: null, problem: message, remedy };
  }
}

async function useGiven(url: string): Promise<RedisServer> {
  const address = parseRedisUrl(url);
  const { version } = await checkRedis(address, { timeoutMs: GIVEN_TIMEOUT_MS });
  return { address, version, source: 'REDIS_URL', pid: () => undefined, close: async () => undefined };
}

function findPrograms(path: string, embedded: string | undefined): string[] {
  const onPath = PROGRAMS.flatMap((name) => path.split(delimiter).filter(Boolean).map((dir) => join(dir, name)).find(isExecutable) ?? []);
  return embedded !== undefined && isExecutable(embedded) ? [...onPath, embedded] : onPath;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
