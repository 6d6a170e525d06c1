// The queue's ids of attempts: built and read back here alone.
// BullMQ refuses ids that are integers or hold a colon: ours have letters in them and no colon.
import type { ShardRef } from './shard-queue.ts';

/** It names the run, so a shared Redis cannot mix two runs. */
export function toQueueId(runId: string, { epoch, shard, attempt }: ShardRef): string {
  return `${escapeId(runId)}.e${epoch}.${shard}.a${attempt}`;
}

/** Undefined for an id that is none of ours. */
export function parseQueueId(id: string): ShardRef | undefined {
  const match = /\.e(\d+)\.([^.]+(?:\.[01])*)\.a(\d+)$/.exec(id);
  return match ? { epoch: Number(match[1]), shard: match[2] as string, attempt: Number(match[3]) } : undefined;
}

/** Any text without its colons, one-to-one. */
export function escapeId(text: string): string {
  return text.replaceAll('%', '%25').replaceAll(':', '%3A');
}
