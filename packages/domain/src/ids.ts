// Names of shards. One builder, so that every name is accepted wherever it goes.

export type ShardId = string;

/** "s0007": the number of the shard in its cut. A half made by bisection appends ".0" or ".1". */
export function buildShardId(number: number): ShardId {
  return `s${String(number).padStart(4, '0')}`;
}
