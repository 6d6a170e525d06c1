import { randomUUID } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { AttemptKey } from '@assay/domain';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestRedis } from '../../../test/support/redis-fixture.ts';
import { sleep, waitUntil } from '../../../test/support/wait-until.ts';
import { buildShardAttempt } from './shard-queue-conformance.ts';
import { openQueue, QUICK } from './testing/open-queue.ts';

const program = (name: string) => fileURLToPath(new URL(`./testing/${name}.ts`, import.meta.url));

describe('a lease that its holder does not renew', () => {
  test('a blocked loop: the other consumer finishes the shard, the late one is told by its signal, nothing fails', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    await queue.add([buildShardAttempt(runId, 0)]);
    const messages: { type: string; isAborted?: boolean }[] = [];
    const workerData = { runId, redis: redis.address, timing: QUICK, blockMs: 2_500 };
    const blocked = new Worker(program('blocking-consumer'), { workerData });
    onTestFinished(async () => { await blocked.terminate(); });
    blocked.on('message', (message) => messages.push(message));
    await waitUntil('the lease', () => messages.length === 1);

    const gate = Promise.withResolvers<void>();
    const stalled: AttemptKey[] = [];
    const givenUp: AttemptKey[] = [];
    let runs = 0;
    await queue.consume({
      concurrency: 1,
      run: async () => { runs += 1; await gate.promise; },
      onStalled: (key) => stalled.push(key),
      onGivenUp: (key) => givenUp.push(key),
    });
    await waitUntil('the late one', () => messages.find(({ type }) => type === 'ended'));
    expect(messages.find(({ type }) => type === 'ended')?.isAborted).toBe(true);
    gate.resolve();
    await waitUntil('the end', async () => (await queue.counts()).leased === 0);
    expect({ runs, givenUp }).toEqual({ runs: 1, givenUp: [] });
    expect(stalled).toContainEqual({ epoch: 1, shard: 's0000', attempt: 1 });
    await sleep(100);
    expect(await queue.counts()).toMatchObject({ waiting: 0, leased: 0 });
  });

  test('a blocked loop of the only consumer: the shard comes back to it and joins the run it has', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    const gate = Promise.withResolvers<void>();
    const stalled: AttemptKey[] = [];
    let runs = 0;
    let isAborted = false;
    await queue.consume({
      concurrency: 2,
      run: async (_, signal) => {
        runs += 1;
        await sleep(200);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
        await gate.promise;
        isAborted = signal.aborted;
      },
      onStalled: (key) => stalled.push(key),
    });
    await queue.add([buildShardAttempt(runId, 0)]);
    await waitUntil('the stall', () => stalled.length > 0);
    await sleep(300);
    gate.resolve();
    await waitUntil('the end', async () => { const { waiting, leased } = await queue.counts(); return waiting + leased === 0; });
    expect({ runs, isAborted }).toEqual({ runs: 1, isAborted: false });
  });

  test('a shard whose holders die three times is given up and told, not lost', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    await queue.add([buildShardAttempt(runId, 0)]);
    for (let kills = 0; kills < 3; kills += 1) {
      const holder = spawn(process.execPath, [program('holder'), runId, redis.address.path, JSON.stringify(QUICK)], { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => { holder.kill('SIGKILL'); });
      await takesShard(holder);
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    }
    const givenUp: [AttemptKey, string][] = [];
    const seen: number[] = [];
    await queue.consume({ concurrency: 1, run: async ({ attempt }) => { seen.push(attempt); }, onGivenUp: (key, problem) => givenUp.push([key, problem]) });
    await waitUntil('the end', () => givenUp.length > 0);
    expect(givenUp).toEqual([[{ epoch: 1, shard: 's0000', attempt: 1 }, expect.stringContaining('stalled more than allowable limit')]]);
    await queue.add([buildShardAttempt(runId, 0, { attempt: 2 })]);
    await waitUntil('the next attempt', () => seen.length > 0);
    expect(seen).toEqual([2]);
  });
});

async function takesShard(holder: ChildProcess): Promise<void> {
  let said = '';
  holder.stdout?.on('data', (chunk) => { said += chunk; });
  await waitUntil('a holder', () => said.includes('holding'));
}

describe('closing a consumer', () => {
  test('at twenty random moments no row is lost and none doubled', async () => {
    const redis = await startTestRedis({ isDurable: false });
    const runId = randomUUID();
    const queue = await openQueue(redis, { runId });
    const shards = Array.from({ length: 150 }, (_, number) => buildShardAttempt(runId, number));
    await queue.add(shards);
    const rows: string[] = [];
    let kills = 0;
    for (; kills < 20; kills += 1) {
      const consumer = await queue.consume({ concurrency: 2, run: async ({ shard }) => { await sleep(Math.random() * 10); rows.push(shard); } });
      await sleep(Math.random() * 30);
      await consumer.close(true);
    }
    await queue.consume({ concurrency: 8, run: async ({ shard }) => { rows.push(shard); } });
    await waitUntil('an empty queue', async () => { const { waiting, leased } = await queue.counts(); return waiting + leased === 0; });
    expect(rows.toSorted()).toEqual(shards.map(({ shard }) => shard));
  });
});
