// Takes a shard and keeps it until it is killed. Usage: holder.ts RUN_ID SOCKET TIMING
import { createShardQueue } from '../bullmq-queue.ts';

const [runId = '', path = '', timing = '{}'] = process.argv.slice(2);
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const queue = await createShardQueue({ runId, redis: { path }, log, timing: JSON.parse(timing) });
await queue.consume({
  concurrency: 1,
  run() {
    process.stdout.write('holding\n');
    return new Promise(() => undefined);
  },
});
