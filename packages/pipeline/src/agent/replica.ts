// One engine worker of a run, across the processes that it has been, and a shard's hold on it.
import type { Plan } from '@assay/planner';
import type { Loaded } from '@assay/protocol';
import type { WorkerHandle } from '@assay/workers';

export interface Replica {
  number: number;
  handle: WorkerHandle;
  plan: Plan | undefined;
  loaded: Loaded | undefined;
  inFlight: number;
  hasSolo: boolean;
  barrenRestarts: number;
  isDown: boolean;
}

export interface Lease {
  replica: Replica;
  /** The process this lease was given on; a restart replaces the replica's. */
  handle: WorkerHandle;
  release(): void;
}
