// The one wide line that a shard's attempt leaves in the log: everything a question about it may need, in one record.
import type { FailureClass } from '@assay/protocol';
import type { Logger } from './logger.ts';

interface ShardAttemptLine {
  epoch: number;
  shard: string;
  attempt: number;
  worker: string;
  outcome: 'done' | 'failed' | 'fenced' | 'canceled';
  requests: number;
  results: number;
  promptTokens: number;
  cachedTokens: number;
  newTokens: number;
  steps: number;
  peakBytes: number;
  batchMedian: number;
  batchMax: number;
  /** In the queue, in the engine, and from the last result to the acknowledgement. */
  seconds: { wait: number; engine: number; commit: number };
  failure?: { class: FailureClass; message: string };
}

/** Writes it: at level info where the attempt is done, else as a warning. */
export function logShardAttempt(logger: Logger, { epoch, shard, attempt, worker, ...line }: ShardAttemptLine): void {
  const level = line.outcome === 'done' ? 'info' : 'warn';
  logger.child({ epoch, shard, attempt, worker })[level](line, 'shard attempt');
}
