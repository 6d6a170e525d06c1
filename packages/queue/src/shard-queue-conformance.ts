// What every ShardQueue guarantees, as tests to be run on each adapter, with queues of one run that share their server.
import type { ShardAttempt } from '@assay/protocol';
import { expect } from 'vitest';
import { sleep, waitUntil } from '../../../test/support/wait-until.ts';
import type { ShardQueue } from './shard-queue.ts';

interface TestQueues {
  runId: string;
  /** Opens one more queue of this run. */
  open(): Promise<ShardQueue>;
}

export function buildShardAttempt(runId: string, number: number, fields: Partial<ShardAttempt> = {}): ShardAttempt {
  return { runId, epoch: 1, shard: `s${String(number).padStart(4, '0')}`, attempt: 1, orderFile: 'requests/order-1.bin', begin: number, end: number + 1, ...fields };
}

const isEmpty = async (queue: ShardQueue) => {
  const { waiting, leased } = await queue.counts();
  return waiting + leased === 0;
};

export const SHARD_QUEUE_GUARANTEES: Record<string, (queues: TestQueues) => Promise<void>> = {
  'delivers every shard once and in order, and forgets it': async ({ runId, open }) => {
    const queue = await open();
    const shards = Array.from({ length: 25 }, (_, number) => buildShardAttempt(runId, number));
    await queue.add(shards);
    const seen: ShardAttempt[] = [];
    await queue.consume({ concurrency: 1, run: async (attempt) => { seen.push(attempt); } });
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect(seen).toEqual(shards);
  },

  'puts what is to be first before all that wait, in order': async ({ runId, open }) => {
    const queue = await open();
    await queue.add([5, 6, 7].map((number) => buildShardAttempt(runId, number)));
    await queue.add([0, 1].map((number) => buildShardAttempt(runId, number)), { first: true });
    const seen: string[] = [];
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); } });
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect(seen).toEqual(['s0000', 's0001', 's0005', 's0006', 's0007']);
  },

  'holds as many leases as it is told': async ({ runId, open }) => {
    const queue = await open();
    await queue.add([0, 1, 2, 3].map((number) => buildShardAttempt(runId, number)));
    const gate = Promise.withResolvers<void>();
    let started = 0;
    await queue.consume({ concurrency: 2, run: async () => { started += 1; await gate.promise; } });
    await waitUntil('two leases', () => started === 2);
    await sleep(50);
    expect(await queue.counts()).toEqual({ waiting: 2, leased: 2, paused: false });
    expect(started).toBe(2);
    gate.resolve();
    await waitUntil('an empty queue', () => isEmpty(queue));
  },

  'adding what is queued or leased changes nothing': async ({ runId, open }) => {
    const queue = await open();
    const shards = [0, 1, 2].map((number) => buildShardAttempt(runId, number));
    await queue.add(shards);
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); await gate.promise; } });
    await waitUntil('a lease', () => seen.length === 1);
    await Promise.all([queue.add(shards), queue.add(shards)]);
    gate.resolve();
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect(seen).toEqual(['s0000', 's0001', 's0002']);
  },

  'a further attempt of a shard that was done is delivered': async ({ runId, open }) => {
    const queue = await open();
    const seen: number[] = [];
    await queue.consume({ concurrency: 1, run: async ({ attempt }) => { seen.push(attempt); } });
    for (const attempt of [1, 2, 3]) {
      await queue.add([buildShardAttempt(runId, 0, { attempt })]);
      await waitUntil('the attempt', () => seen.includes(attempt));
      await waitUntil('an empty queue', () => isEmpty(queue));
    }
    expect(seen).toEqual([1, 2, 3]);
  },

  'an attempt can be added from within the run of the one before it': async ({ runId, open }) => {
    const queue = await open();
    const seen: number[] = [];
    await queue.consume({
      concurrency: 1,
      run: async ({ attempt }) => {
        seen.push(attempt);
        if (attempt < 4) await queue.add([buildShardAttempt(runId, 0, { attempt: attempt + 1 })]);
      },
    });
    await queue.add([buildShardAttempt(runId, 0)]);
    await waitUntil('four attempts', () => seen.length === 4);
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect(seen).toEqual([1, 2, 3, 4]);
  },

  'an attempt whose run throws is given up, told, and not delivered again': async ({ runId, open }) => {
    const queue = await open();
    const givenUp: [string, string][] = [];
    let runs = 0;
    await queue.consume({
      concurrency: 1,
      run: async () => { runs += 1; throw new Error('no such device'); },
      onGivenUp: ({ shard }, problem) => givenUp.push([shard, problem]),
    });
    await queue.add([buildShardAttempt(runId, 0)]);
    await waitUntil('the end', () => givenUp.length > 0);
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect({ runs, givenUp }).toEqual({ runs: 1, givenUp: [['s0000', 'no such device']] });
  },

  'pause stops deliveries, resume starts them again': async ({ runId, open }) => {
    const queue = await open();
    const seen: string[] = [];
    await queue.pause();
    await queue.add([buildShardAttempt(runId, 0)]);
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); } });
    await sleep(100);
    expect(seen).toEqual([]);
    expect(await queue.counts()).toEqual({ waiting: 1, leased: 0, paused: true });
    await queue.resume();
    await waitUntil('the shard', () => seen.length === 1);
  },

  'cancel removes what waits and aborts what runs': async ({ runId, open }) => {
    const queue = await open();
    const shards = [0, 1].map((number) => buildShardAttempt(runId, number));
    const seen: string[] = [];
    let reason: unknown;
    await queue.consume({
      concurrency: 1,
      run: (attempt, signal) => {
        seen.push(attempt.shard);
        return new Promise((resolve) => signal.addEventListener('abort', () => { reason = signal.reason; resolve(); }));
      },
    });
    await queue.add(shards);
    await waitUntil('a lease', () => seen.length === 1);
    await queue.cancel(shards);
    await waitUntil('an empty queue', () => isEmpty(queue));
    expect({ seen, reason }).toEqual({ seen: ['s0000'], reason: new Error('the attempt was withdrawn') });
  },

  'a closing consumer that drains lets its run finish and acknowledges it': async ({ runId, open }) => {
    const queue = await open();
    await queue.add([0, 1].map((number) => buildShardAttempt(runId, number)));
    const gate = Promise.withResolvers<void>();
    let started = 0;
    const consumer = await queue.consume({ concurrency: 1, run: async () => { started += 1; await gate.promise; } });
    await waitUntil('a lease', () => started === 1);
    const closed = consumer.close(true);
    gate.resolve();
    await closed;
    expect(await queue.counts()).toMatchObject({ waiting: 1, leased: 0 });
  },

  'a closing consumer that does not drain aborts its run': async ({ runId, open }) => {
    const queue = await open();
    await queue.add([buildShardAttempt(runId, 0)]);
    const running = Promise.withResolvers<AbortSignal>();
    const consumer = await queue.consume({
      concurrency: 1,
      run: (_, signal) => new Promise((resolve) => { running.resolve(signal); signal.addEventListener('abort', () => resolve()); }),
    });
    const signal = await running.promise;
    await consumer.close(false);
    expect(signal.aborted).toBe(true);
  },

  'two consumers share the shards, none is run twice': async ({ runId, open }) => {
    const [one, other] = await Promise.all([open(), open()]);
    const seen: string[] = [];
    const run = async ({ shard }: ShardAttempt) => { await sleep(1); seen.push(shard); };
    await Promise.all([one.consume({ concurrency: 2, run }), other.consume({ concurrency: 2, run })]);
    await one.add(Array.from({ length: 60 }, (_, number) => buildShardAttempt(runId, number)));
    await waitUntil('an empty queue', () => isEmpty(one));
    expect(new Set(seen).size).toBe(60);
    expect(seen).toHaveLength(60);
  },

  'clear leaves nothing of the run, and the queue can be used again': async ({ runId, open }) => {
    const queue = await open();
    await queue.add([0, 1].map((number) => buildShardAttempt(runId, number)));
    await queue.pause();
    await queue.clear();
    expect(await queue.counts()).toEqual({ waiting: 0, leased: 0, paused: false });
    const seen: string[] = [];
    await queue.add([buildShardAttempt(runId, 7)]);
    await queue.consume({ concurrency: 1, run: async ({ shard }) => { seen.push(shard); } });
    await waitUntil('the shard', () => seen.length === 1);
    expect(seen).toEqual(['s0007']);
  },

  'a payload that is none is refused before it is queued': async ({ runId, open }) => {
    const queue = await open();
    await expect(queue.add([{ ...buildShardAttempt(runId, 0), attempt: 0 }])).rejects.toThrow('attempt');
    expect(await isEmpty(queue)).toBe(true);
  },
};
