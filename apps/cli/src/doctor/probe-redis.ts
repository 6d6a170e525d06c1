// Which Redis a run would use, in the order in which it is looked for.
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';

export interface RedisFacts {
  source: 'REDIS_URL' | 'PATH' | 'set-up' | 'none';
  /** Address without credentials, or the server's path. */
  place: string | null;
  reachable: boolean;
}

const CONNECT_TIMEOUT_MS = 3000;
const SERVERS = ['valkey-server', 'redis-server'];

export async function probeRedis(env: Record<string, string | undefined>, builtServer: string | undefined): Promise<RedisFacts> {
  if (env['REDIS_URL']) return probeAddress(env['REDIS_URL']);
  const onPath = await findOnPath(env['PATH'] ?? '');
  if (onPath !== undefined) return { source: 'PATH', place: onPath, reachable: true };
  if (builtServer !== undefined && (await isFile(builtServer))) return { source: 'set-up', place: builtServer, reachable: true };
  return { source: 'none', place: null, reachable: false };
}

async function probeAddress(address: string): Promise<RedisFacts> {
  const url = address.startsWith('/') ? new URL(`unix://${address}`) : URL.parse(address);
  if (url === null) return { source: 'REDIS_URL', place: 'not an address', reachable: false };
  const path = decodeURIComponent(url.pathname);
  if (url.protocol === 'unix:') return { source: 'REDIS_URL', place: path, reachable: await canConnect({ path }) };
  const port = Number(url.port || 6379);
  return { source: 'REDIS_URL', place: `${url.hostname}:${port}`, reachable: await canConnect({ host: url.hostname, port }) };
}

function canConnect(to: { path: string } | { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...to, timeout: CONNECT_TIMEOUT_MS });
    const settle = (isReachable: boolean) => {
      socket.destroy();
      resolve(isReachable);
    };
    socket.on('connect', () => settle(true)).on('error', () => settle(false)).on('timeout', () => settle(false));
  });
}

async function findOnPath(path: string): Promise<string | undefined> {
  for (const name of SERVERS) {
    for (const folder of path.split(delimiter).filter(Boolean)) {
      if (await isFile(join(folder, name))) return join(folder, name);
    }
  }
  return undefined;
}

const isFile = (path: string): Promise<boolean> => stat(path).then((found) => found.isFile(), () => false);
