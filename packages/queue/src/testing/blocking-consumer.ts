// A consumer in a thread of its own, whose event loop a run can block: what a lock holder that computes would do.
import { parentPort, workerData } from 'node:worker_threads';
import { createShardQueue } from '../bullmq-queue.ts';

const { runId, redis, timing, blockMs } = workerData as { runId: string; redis: { path: string }; timing: object; blockMs: number };
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has none
const tell = (message: object) => parentPort?.postMessage(message);

const queue = await createShardQueue({ runId, redis, log, timing });
await queue.consume({
  concurrency: 1,
  async run({ shard }, signal) {
    tell({ type: 'started', shard });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
    // Only now can its timers notice what happened meanwhile.
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
      setTimeout(resolve, 2_000).unref();
    });
    tell({ type: 'ended', shard, isAborted: signal.aborted });
  },
});
