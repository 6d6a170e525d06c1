// Starts, moves and ends of worker processes go to the run's events and its metrics.
import { toAssayError } from '@assay/domain';
import type { WorkerHandle, WorkerMove } from '@assay/workers';
import type { Prepared } from '../prepare-run.ts';

export function noteStart({ census, context: { events, epoch }, halt }: Prepared, { name, role, pid }: WorkerHandle): void {
  census.noteStart(role);
  events.append({ type: 'worker_started', epoch, worker: name, role, pid }).catch((thrown: unknown) => halt(toAssayError(thrown)));
}

/** Moves go to the metrics; the end, with its reason, to the events. */
export function noteMove({ census, context, halt }: Prepared, handle: WorkerHandle, move: WorkerMove): void {
  const { to, exit } = move;
  census.noteMove(handle.role, move);
  if (!exit) return;
  context.events.append({
    type: 'worker_ended', epoch: context.epoch, worker: handle.name, pid: handle.pid, exitCode: exit.code, signal: exit.signal,
    ...(handle.lastHeartbeat ? { peakBytes: handle.lastHeartbeat.peakBytes } : {}),
    ...(to === 'crashed' ? { problem: [exit.how, exit.firstError].filter(Boolean).join(': '), tail: exit.tail } : {}),
  }).catch((thrown: unknown) => halt(toAssayError(thrown)));
}
