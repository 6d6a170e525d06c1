import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { AssayError } from '@assay/domain';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../../test/support/process-table.ts';
import { makeLog } from '../../../test/support/quiet-log.ts';
import { findRedisProgram, spawnProgram, startTestRedis } from '../../../test/support/redis-fixture.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import type { RedisServer, SpawnServer } from './own-redis.ts';
import { examineRedis, type ResolveOptions, resolveRedis } from './resolve-redis.ts';
import { buildShardAttempt } from './shard-queue-conformance.ts';
import { openQueue } from './testing/open-queue.ts';

const spawn: SpawnServer = spawnProgram;

async function resolve(options: Partial<ResolveOptions> = {}): Promise<RedisServer> {
  const server = await resolveRedis({ env: {}, socketDir: makeTempDir(), embeddedServer: findRedisProgram(), spawn, log: makeLog(), ...options });
  onTestFinished(() => server.close());
  return server;
}

const codeOf = (promise: Promise<unknown>) => promise.then(() => 'none', (error: AssayError) => error.code);

describe('a Redis of our own', () => {
  test('listens on a private socket only, and is gone with its files after close', async () => {
    const socketDir = makeTempDir();
    const server = await resolve({ socketDir });
    const { path } = server.address as { path: string };
    expect(path.startsWith(socketDir)).toBe(true);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    const pid = server.pid() as number;
    await server.close();
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(socketDir)).toEqual([]);
  });

  test('killed with -9, idle and busy, comes back at once with its shards', async () => {
    const restarts: string[] = [];
    const server = await resolve({ onRestart: (how) => restarts.push(how) });
    const runId = randomUUID();
    const queue = await openQueue({ address: server.address as { path: string } }, { runId });
    await queue.add([0, 1, 2].map((number) => buildShardAttempt(runId, number)));
    process.kill(server.pid() as number, 'SIGKILL');
    await waitUntil('a restart', () => restarts.length === 1);
    const seen: string[] = [];
    await queue.consume({ concurrency: 1, run: async ({ shard }) => {
      seen.push(shard);
      if (seen.length !== 2) return;
      process.kill(server.pid() as number, 'SIGKILL');
      await waitUntil('another', () => restarts.length === 2);
    } });
    await waitUntil('the shards', () => seen.length === 3);
    await waitUntil('an empty queue', () => queue.counts().then(({ waiting, leased }) => waiting + leased === 0, () => false));
    expect(seen).toEqual(['s0000', 's0001', 's0002']);
    expect(restarts).toEqual(['SIGKILL', 'SIGKILL']);
  });

  test('that dies again and again is given up with its last words', async () => {
    let error: AssayError | undefined;
    const server = await resolve({ onLost: (lost) => { error = lost; } });
    const found = await waitUntil('the end', () => {
      if (error === undefined) process.kill(server.pid() as number, 'SIGKILL');
      return error;
    });
    expect(found.code).toBe('REDIS_START');
    expect(found.remedy).toContain('or set REDIS_URL');
  });

  test('a program on PATH that does not start is passed over', async () => {
    const dir = makeTempDir();
    writeFileSync(join(dir, 'redis-server'), '#!/bin/sh\necho "cannot load libssl" >&2\nexit 127\n', { mode: 0o755 });
    const log = makeLog();
    const server = await resolve({ env: { PATH: dir }, log });
    expect(server.source).toBe(findRedisProgram());
    expect(log.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({ problem: expect.stringContaining('cannot load libssl') });
  });

  test('the only program, where it does not start, is named with its last words and its log', async () => {
    const dir = makeTempDir();
    writeFileSync(join(dir, 'redis-server'), '#!/bin/sh\necho "cannot load libssl" >&2\nexit 127\n', { mode: 0o755 });
    const logFile = join(dir, 'redis.log');
    const error = await resolve({ env: { PATH: dir }, embeddedServer: undefined, logFile }).catch((thrown: AssayError) => thrown);
    expect(error).toMatchObject({ code: 'REDIS_START', message: expect.stringContaining('cannot load libssl'), remedy: expect.stringContaining(logFile) });
  });

  test('none at all is REDIS_MISSING', async () => {
    expect(await codeOf(resolve({ embeddedServer: undefined }))).toBe('REDIS_MISSING');
  });
});

describe('a Redis that is given', () => {
  const given = (path: string) => resolve({ env: { REDIS_URL: `unix://${path}` } });

  test('is used as it is', async () => {
    const redis = await startTestRedis({ isDurable: false });
    expect(await given(redis.address.path)).toMatchObject({ address: redis.address, source: 'REDIS_URL' });
  });

  test.each(['allkeys-lru', 'volatile-lru'])('is refused when it evicts keys: %s', async (policy) => {
    const redis = await startTestRedis({ isDurable: false, settings: { maxmemory: '8mb', 'maxmemory-policy': policy } });
    await expect(given(redis.address.path)).rejects.toMatchObject({ code: 'REDIS_POLICY', details: { policy } });
    const facts = await examineRedis({ env: { REDIS_URL: `unix://${redis.address.path}` } });
    expect(facts).toMatchObject({ problem: expect.stringContaining(policy), remedy: expect.stringContaining('noeviction') });
  });

  test('is refused when it is full', async () => {
    const redis = await startTestRedis({ isDurable: false, settings: { maxmemory: '1' } });
    expect(await codeOf(given(redis.address.path))).toBe('REDIS_FULL');
  });

  test('is refused when nobody listens, without the password in the message', async () => {
    const error = await resolve({ env: { REDIS_URL: 'redis://user:geheim@127.0.0.1:1/0' } }).catch((thrown: AssayError) => thrown);
    expect(error).toMatchObject({ code: 'REDIS_UNREACHABLE' });
    expect((error as AssayError).message).not.toContain('geheim');
  });

  test('is refused when its address is none', async () => {
    expect(await codeOf(resolve({ env: { REDIS_URL: 'localhost:6379' } }))).toBe('REDIS_UNREACHABLE');
  });

  test('is refused when it is too old', async () => {
    const path = await serveAnswers([[/info/i, bulk('# Server\r\nredis_version:5.0.7\r\nmaxmemory_policy:noeviction\r\n')]]);
    await expect(given(path)).rejects.toMatchObject({ code: 'REDIS_VERSION', details: { version: '5.0.7' } });
  });

  test('is refused when it is so old that it does not know the greeting', async () => {
    const path = await serveAnswers([[/hello/i, "-ERR unknown command `hello`, with args beginning with: `3`, \r\n"]]);
    expect(await codeOf(given(path))).toBe('REDIS_VERSION');
  });

  test('is refused when it does not have the database', async () => {
    const port = await serveAnswers([[/select/i, '-ERR DB index is out of range\r\n'], [/info/i, bulk('redis_version:7.2.0\r\nmaxmemory_policy:noeviction\r\n')]], 0);
    await expect(resolve({ env: { REDIS_URL: `redis://127.0.0.1:${port}/999` } })).rejects.toThrow('DB index is out of range');
  });
});

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

/** A server that answers commands by pattern, all others with OK: on a socket whose path it returns, or on the port. */
async function serveAnswers(answers: readonly [RegExp, string][], port?: number): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const command of data.toString().split(/\*\d+\r\n/).filter(Boolean)) {
        socket.write(answers.find(([pattern]) => pattern.test(command))?.[1] ?? '+OK\r\n');
      }
    });
  });
  const path = join(makeTempDir(), 's');
  await new Promise<void>((listening) => { if (port === undefined) server.listen(path, listening); else server.listen(port, '127.0.0.1', listening); });
  onTestFinished(() => { server.close(); });
  const address = server.address();
  return typeof address === 'object' && address ? String(address.port) : path;
}
