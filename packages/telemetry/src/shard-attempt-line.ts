// The one wide line that a shard's attempt leaves in the log: everything a question about it may need, in one record.
import type { AttemptOutcome } from '@assay/domain';
import type { FailureClass, ShardDone } from '@assay/protocol';
import type { Logger } from './logger.ts';

interface ShardAttemptLine {
  epoch: number;
  shard: string;
  attempt: number;
  worker: string;
  outcome: AttemptOutcome;
  requests: number;
  results: number;
  /** From its lease to its start in an engine, from there to the engine's last word, and from that until its results count. */
  seconds: { wait: number; engine: number; commit?: number };
  /** What the engine counted, where the attempt is done. */
  engine?: Pick<ShardDone, 'promptTokens' | 'cachedTokens' | 'newTokens' | 'steps' | 'batch' | 'peakBytes'>;
  failure?: { class: FailureClass; message: string };
}

/** Writes it: at level info where the attempt is done, else as a warning. */
export function logShardAttempt(logger: Logger, { epoch, shard, attempt, worker, ...line }: ShardAttemptLine): void {
  const level = line.outcome === 'done' ? 'info' : 'warn';
  logger.child({ epoch, shard, attempt, worker })[level](line, 'shard attempt');
}
