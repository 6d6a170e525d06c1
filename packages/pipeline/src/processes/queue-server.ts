// Redis and the run's queue on it. A Redis that ends is started again and the queue filled anew.
import { toAssayError } from '@assay/domain';
import { createShardQueue, type RedisServer, resolveRedis, type ShardQueue } from '@assay/queue';
import { workerLogFile } from '@assay/store';
import { spawnServer } from '@assay/workers';
import type { Prepared } from '../prepare-run.ts';
import { type RunContext, showWarning } from '../run-context.ts';

export async function startQueue(
  { context, env, halt }: Prepared,
  { embeddedServer, socketDir, onRecovered }: { embeddedServer: string | undefined; socketDir: string; onRecovered: () => void },
): Promise<{ redis: RedisServer; queue: ShardQueue }> {
  const { log, python, run } = context;
  const redis = await resolveRedis({
    env, socketDir, embeddedServer, log, logFile: workerLogFile(run.dir, 'redis'),
    spawn: ({ command, logFile }) => spawnServer({ python, command, logFile }),
    onRestart: (how) => {
      showWarning(context, `Redis ended (${how}) and was started again; nothing is lost`);
      noteRedis(context, redis).catch((thrown: unknown) => halt(toAssayError(thrown)));
    },
    onLost: halt,
  });
  await noteRedis(context, redis);
  context.metrics.set('assay_queue_up', 1);
  const queue = await createShardQueue({
    runId: run.header.id, redis: redis.address, log,
    onTrouble: (error) => {
      context.metrics.set('assay_queue_up', 0);
      showWarning(context, `${error.message}; waiting`);
    },
    onRecovered: () => {
      context.metrics.set('assay_queue_up', 1);
      onRecovered();
    },
  }).catch(async (thrown: unknown) => {
    await redis.close();
    throw thrown;
  });
  return { redis, queue };
}

async function noteRedis({ events, epoch }: RunContext, redis: RedisServer): Promise<void> {
  const pid = redis.pid();
  if (pid !== undefined) await events.append({ type: 'worker_started', epoch, worker: 'redis', role: 'redis', pid });
}
