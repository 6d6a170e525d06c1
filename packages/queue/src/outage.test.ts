import { randomUUID } from 'node:crypto';
import type { AssayError } from '@assay/domain';
import { describe, expect, test } from 'vitest';
import { makeLog } from '../../../test/support/quiet-log.ts';
import { startTestRedis } from '../../../test/support/redis-fixture.ts';
import { sleep, waitUntil } from '../../../test/support/wait-until.ts';
import { connect } from './redis-address.ts';
import { buildShardAttempt } from './shard-queue-conformance.ts';
import type { ShardQueue } from './shard-queue.ts';
import { openQueue } from './testing/open-queue.ts';

/** False also while Redis is away. */
const isEmpty = (queue: ShardQueue) => queue.counts().then(({ waiting, leased }) => waiting + leased === 0, () => false);

/** Queues that tell what they meet. */
function watchTrouble() {
  const troubles: AssayError[] = [];
  const recoveries: number[] = [];
  const log = makeLog();
  return { troubles, recoveries, log, options: { log, onTrouble: (error: AssayError) => troubles.push(error), onRecovered: () => recoveries.push(1) } };
}

describe('Redis that is killed', () => {
  test('while a consumer is idle: it takes what comes afterwards, and the log stays short', async () => {
    const redis = await startTestRedis();
    const runId = randomUUID();
    const { troubles, recoveries, log, options } = watchTrouble();
    const queue = await openQueue(redis, { runId, ...options });
    const seen: string[] = [];
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); } });
    await sleep(200);
    await redis.kill();
    await sleep(1_000);
    const added = queue.add([buildShardAttempt(runId, 0)]);
    await redis.start();
    await added;
    await waitUntil('the shard', () => seen.length === 1);
    expect(troubles.map(({ code }) => code)).toEqual(['REDIS_UNREACHABLE']);
    expect(recoveries).toHaveLength(1);
    expect(log.lines.filter(({ level }) => level !== 'debug').length).toBeLessThan(15);
  });

  test('while shards run: each is run once and acknowledged when it is back', async () => {
    const redis = await startTestRedis();
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    const seen: string[] = [];
    let release = Promise.withResolvers<void>();
    await queue.consume({ concurrency: 2, run: async ({ shard }) => { seen.push(shard); await release.promise; } });
    await queue.add(Array.from({ length: 6 }, (_, number) => buildShardAttempt(runId, number)));
    for (let kills = 0; kills < 2; kills += 1) {
      await waitUntil('two runs', () => seen.length >= 2 + 2 * kills);
      await redis.kill();
      release.resolve();
      release = Promise.withResolvers<void>();
      // The second time longer than a lease lasts.
      await sleep(kills * 1_500);
      await redis.start();
    }
    release.resolve();
    await waitUntil('six runs', () => { release.resolve(); return seen.length === 6; });
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect(seen.toSorted()).toEqual(['s0000', 's0001', 's0002', 's0003', 's0004', 's0005']);
  });

  test('and comes back empty: adding the open shards again loses none and doubles none', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const runId = randomUUID();
    const shards = [0, 1, 2, 3].map((number) => buildShardAttempt(runId, number));
    const open = new Map(shards.map((attempt) => [attempt.shard, attempt]));
    const seen: string[] = [];
    const queue: ShardQueue = await openQueue(redis, { runId, onRecovered: () => void queue.add([...open.values()]) });
    const gate = Promise.withResolvers<void>();
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); await gate.promise; open.delete(shard); } });
    await queue.add(shards);
    await waitUntil('a run', () => seen.length === 1);
    await redis.kill();
    await redis.start();
    await waitUntil('the shards again', () => queue.counts().then(({ waiting }) => waiting >= 3, () => false));
    gate.resolve();
    await waitUntil('all shards', () => open.size === 0);
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect(seen).toEqual(['s0000', 's0001', 's0002', 's0003']);
  });

  test('for good: closing an idle consumer does not hang', async () => {
    const redis = await startTestRedis();
    const queue = await openQueue(redis);
    await queue.consume({ concurrency: 2, run: async () => undefined });
    await redis.kill();
    await expect(queue.clear()).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE' });
    await expect(queue.counts()).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE' });
    await queue.close();
  });

  test('for good: closing with a run in flight does not hang', async () => {
    const redis = await startTestRedis();
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    await queue.add([buildShardAttempt(runId, 0)]);
    const running = Promise.withResolvers<void>();
    await queue.consume({
      concurrency: 2,
      run: (_, signal) => new Promise((resolve) => { running.resolve(); signal.addEventListener('abort', () => resolve()); }),
    });
    await running.promise;
    await redis.kill();
    await expect(queue.close()).resolves.toBeUndefined();
  });
});

describe('Redis that refuses', () => {
  test('full: adding waits with one clear line, and goes on when there is room', async () => {
    const redis = await startTestRedis({ isDurable: false, settings: { maxmemory: '8mb' } });
    const client = connect(redis.address);
    const runId = randomUUID();
    const { troubles, log, options } = watchTrouble();
    const queue = await openQueue(redis, { runId, ...options });
    const seen: string[] = [];
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); } });
    await client.set('filler', 'x'.repeat(7 << 20)).catch(() => undefined);
    for (let number = 0; await client.set(`filler-${number}`, 'x'.repeat(16 << 10)).then(() => true, () => false); number += 1);
    const added = queue.add([buildShardAttempt(runId, 0)]);
    await waitUntil('trouble', () => troubles.length > 0);
    await sleep(1_500);
    expect(troubles.map(({ code }) => code)).toEqual(['REDIS_FULL']);
    expect(log.lines.filter(({ level }) => level !== 'debug').length).toBeLessThan(15);
    await client.flushall();
    await added;
    await waitUntil('the shard', () => seen.length === 1);
    client.disconnect();
  });

  test('five hundred failing shards with 50 kB of error text leave it small', async () => {
    const redis = await startTestRedis({ isDurable: false, settings: { maxmemory: '8mb' } });
    const client = connect(redis.address);
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    let givenUp = 0;
    await queue.consume({
      concurrency: 8,
      run: () => Promise.reject(new Error('stack '.repeat(8_500))),
      onGivenUp: () => { givenUp += 1; },
    });
    await queue.add(Array.from({ length: 500 }, (_, number) => buildShardAttempt(runId, number)));
    await waitUntil('all of them', () => givenUp === 500);
    const [, used] = /used_memory:(\d+)/.exec(await client.info('memory')) ?? [];
    expect(Number(used)).toBeLessThan(4 << 20);
    client.disconnect();
  });

  test('every command: the log does not fill, and the consumer neither spins nor gives up', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const client = connect(redis.address);
    const runId = randomUUID();
    const { troubles, recoveries, log, options } = watchTrouble();
    const queue = await openQueue(redis, { runId, ...options });
    const seen: string[] = [];
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); } });
    await client.acl('SETUSER', 'default', '-eval', '-evalsha');
    const before = Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
    const added = queue.add([buildShardAttempt(runId, 0)]);
    await waitUntil('trouble', () => troubles.length > 0);
    await sleep(1_500);
    const after = Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
    expect(after - before).toBeLessThan(500);
    expect(log.lines.filter(({ level }) => level !== 'debug').length).toBeLessThan(20);
    await client.acl('SETUSER', 'default', '+eval', '+evalsha');
    await added;
    await waitUntil('the shard', () => seen.length === 1);
    expect(recoveries).toHaveLength(1);
    client.disconnect();
  });
});
