// probe.json: every rung tried, in order.
import type { Plan } from '@assay/planner';
import type { Failure } from '@assay/protocol';

export interface ProbeRung {
  rung: number;
  verdict: 'fits' | 'oom' | 'failed' | 'skipped';
  plan: Plan;
  seconds: number;
  predictedBytes: number;
  /** Highest peak among the replicas; undefined where none could tell. */
  measuredBytes: number | undefined;
  failure: Failure | undefined;
  /** An earlier run's verdict, taken over: this plan was not tried again. */
  remembered?: true;
  replicas: { worker: string; peakBytes: number; seconds: number }[];
}

export interface ProbeReport {
  rungs: ProbeRung[];
  seconds: number;
}
