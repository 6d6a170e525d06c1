// A worker's failure in the protocol's words, also where the worker could not say it itself.
import type { Failure } from '@assay/protocol';
import type { WorkerFailure } from '@assay/workers';

/** As the worker reported it, or what its end tells. */
export function describeFailure(failure: WorkerFailure): Failure {
  const { exit } = failure;
  if (failure.failure) return failure.failure;
  // Killed in the middle of its work: what it had said last explains nothing.
  if (exit?.exhausted) return { class: 'oom', message: exit.how };
  return { class: 'engine', message: [exit?.how, failure.message].filter(Boolean).join(': ') };
}
