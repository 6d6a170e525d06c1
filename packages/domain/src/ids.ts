// One builder per id that leaves the process, so that every id is accepted wherever it goes.
// BullMQ refuses ids that are integers or hold a colon: ours have letters in them and no colon.

export type ShardId = string;

/** "s0007": the number of the shard in its cut. A half made by bisection appends ".0" or ".1". */
export function buildShardId(number: number): ShardId {
  return `s${String(number).padStart(4, '0')}`;
}

/** The queue's job id of one attempt. It names the run, so a shared Redis cannot mix two runs. */
export function buildJobId(runId: string, epoch: number, shard: ShardId, attempt: number): string {
  return `${escapeId(runId)}.e${epoch}.${shard}.a${attempt}`;
}

/** Any text without its colons, one-to-one. */
export function escapeId(text: string): string {
  return text.replaceAll('%', '%25').replaceAll(':', '%3A');
}
