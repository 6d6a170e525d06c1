// A real Redis server for a test, on a socket of its own, that can be killed and brought back with the data it had.
import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import { delimiter, join } from 'node:path';
import { type ServerProcess, spawnServer } from '@assay/workers';
import { onTestFinished } from 'vitest';
import { embeddedRedis, python } from './environment.ts';
import { makeTempDir } from './temp-dir.ts';
import { waitUntil } from './wait-until.ts';

export interface TestRedis {
  address: { path: string };
  readonly pid: number;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again, after `kill`. */
  start(): Promise<void>;
}

interface TestRedisOptions {
  /** Further settings, such as {maxmemory: '8mb'}. */
  settings?: Record<string, string>;
  /** Keeps its keys over a restart. */
  isDurable?: boolean;
}

/** Ends with the test. */
export async function startTestRedis({ settings = {}, isDurable = true }: TestRedisOptions = {}): Promise<TestRedis> {
  const dir = makeTempDir();
  const path = join(dir, 'redis.sock');
  const all = { port: '0', unixsocket: path, dir, appendonly: isDurable ? 'yes' : 'no', save: '', 'maxmemory-policy': 'noeviction', ...settings };
  const command = [findRedisProgram(), ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])];
  let server: ServerProcess;
  const redis = {
    address: { path },
    get pid() {
      return server.pid;
    },
    async kill() {
      server.kill('SIGKILL');
      await server.exited;
    },
    async start() {
      server = spawnProgram({ command, logFile: join(dir, 'redis.log') });
      await waitUntil('Redis', () => accepts(path));
    },
  };
  onTestFinished(() => redis.kill());
  await redis.start();
  return redis;
}

export function spawnProgram({ command, logFile }: { command: readonly string[]; logFile: string }): ServerProcess {
  return spawnServer({ python, command, logFile });
}

export function findRedisProgram(): string {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).flatMap((dir) => [join(dir, 'valkey-server'), join(dir, 'redis-server')]);
  const program = [embeddedRedis, ...onPath].find((candidate) => candidate !== undefined && existsSync(candidate));
  if (program === undefined) throw new Error('no Redis server; the set-up brings one');
  return program;
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
}
