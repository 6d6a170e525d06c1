// How long a plan is expected to take, part by part: what the planner works out, and what is shown and kept of it.

/** What sets the pace of a part: the device's operations, or what it reads from its memory. */
export type TimeBound = 'compute' | 'memory' | 'none';

export interface TimeEstimate {
  /** Processes and imports. */
  startSeconds: number;
  /** Weights, compilation, cache and graphs: until the engine answers. */
  loadSeconds: number;
  prefillSeconds: number;
  decodeSeconds: number;
  /** Contained in the two above: what ranks send each other. */
  communicationSeconds: number;
  /** Of the whole run but rendering and scoring. */
  wallSeconds: number;
  /** Devices held for that long; cores on CPU. */
  deviceHours: number;
  /** Earlier runs that the times are corrected by. */
  correctedBy: number;
  bound: { prefill: TimeBound; decode: TimeBound };
}
