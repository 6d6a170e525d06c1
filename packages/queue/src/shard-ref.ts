// Ids of attempts in the queue, built by the domain and read back here.
import { buildJobId } from '@assay/domain';
import type { ShardRef } from './shard-queue.ts';

export function toQueueId(runId: string, { epoch, shard, attempt }: ShardRef): string {
  return buildJobId(runId, epoch, shard, attempt);
}

/** Undefined for an id that is none of ours. */
export function parseQueueId(id: string): ShardRef | undefined {
  const match = /\.e(\d+)\.([^.]+(?:\.[01])*)\.a(\d+)$/.exec(id);
  return match ? { epoch: Number(match[1]), shard: match[2] as string, attempt: Number(match[3]) } : undefined;
}
