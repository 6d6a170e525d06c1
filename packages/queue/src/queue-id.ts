// The queue's ids of attempts: built and read back here alone.
// BullMQ refuses ids that are integers or hold a colon: ours have letters in them and no colon.
import { type AttemptKey, formatAttempt, parseAttempt } from '@assay/domain';

/** It names the run, so a shared Redis cannot mix two runs. */
export function toQueueId(runId: string, key: AttemptKey): string {
  return `${escapeId(runId)}.${formatAttempt(key)}`;
}

/** Undefined for an id that is none of ours. */
export function parseQueueId(id: string): AttemptKey | undefined {
  // Shards have dots too, but only behind the first "-".
  const start = id.lastIndexOf('.', id.lastIndexOf('-s')) + 1;
  return start === 0 ? undefined : parseAttempt(id.slice(start));
}

/** Any text without its colons, one-to-one. */
export function escapeId(text: string): string {
  return text.replaceAll('%', '%25').replaceAll(':', '%3A');
}
