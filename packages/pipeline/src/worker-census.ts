// How many worker processes of this start are in each state, for the metrics. Ended ones stay counted as exited or crashed.
import type { WorkerState } from '@assay/domain';
import type { Metrics } from '@assay/telemetry';
import type { WorkerHandle, WorkerMove } from '@assay/workers';

type Role = WorkerHandle['role'];

export class WorkerCensus {
  readonly #metrics: Metrics;
  readonly #counts = new Map<string, number>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  noteStart(role: Role): void {
    this.#shift({ role, state: 'starting' }, 1);
  }

  noteMove(role: Role, { from, to }: Pick<WorkerMove, 'from' | 'to'>): void {
    this.#shift({ role, state: from }, -1);
    this.#shift({ role, state: to }, 1);
  }

  #shift(labels: { role: Role; state: WorkerState }, by: number): void {
    const key = `${labels.role} ${labels.state}`;
    const count = (this.#counts.get(key) ?? 0) + by;
    this.#counts.set(key, count);
    this.#metrics.set('assay_workers', count, labels);
  }
}
