// Names of shards and their attempts. One builder each, so that every name is accepted wherever it goes: as a file, in Redis, in logs.

export type ShardId = string;

/** "s0007": the number of the shard in its cut. A half made by bisection appends ".0" or ".1". */
export function buildShardId(number: number): ShardId {
  return `s${String(number).padStart(4, '0')}`;
}

/** Names an attempt within its run. */
export interface AttemptKey {
  epoch: number;
  shard: ShardId;
  attempt: number;
}

/** "1-s0007-2": epoch, shard, attempt. */
export function formatAttempt({ epoch, shard, attempt }: AttemptKey): string {
  return `${epoch}-${shard}-${attempt}`;
}

/** Undefined for a text that formatAttempt does not write. */
export function parseAttempt(text: string): AttemptKey | undefined {
  const match = /^(\d+)-(s[\d.]+)-(\d+)$/.exec(text);
  return match ? { epoch: Number(match[1]), shard: match[2] as string, attempt: Number(match[3]) } : undefined;
}
