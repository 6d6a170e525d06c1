// probe.json: every rung tried, in order.
import type { Plan } from '@assay/planner';
import type { Failure } from '@assay/protocol';
import type { FailedReplica } from '../agent/failed-replica.ts';

export interface ProbeRung {
  rung: number;
  verdict: 'fits' | 'oom' | 'failed' | 'skipped';
  plan: Plan;
  seconds: number;
  predictedBytes: number;
  /** Highest peak among the replicas; undefined where none could tell. */
  measuredBytes: number | undefined;
  failure: Failure | undefined;
  /** Whose failure that is: the first of the replicas to fail. */
  failed?: FailedReplica;
  /** An earlier run's verdict, taken over: this plan was not tried again. */
  remembered?: true;
  replicas: { worker: string; peakBytes: number; seconds: number }[];
}

export interface ProbeReport {
  rungs: ProbeRung[];
  seconds: number;
}
