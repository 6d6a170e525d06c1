// A worker's failure in the protocol's words, also where the worker could not say it itself.
import type { Failure } from '@assay/protocol';
import type { WorkerFailure } from '@assay/workers';

/** As the worker reported it, or what its end tells. */
export function describeFailure(failure: WorkerFailure): Failure {
  return failure.failure ?? { class: 'engine', message: [failure.exit?.how, failure.message].filter(Boolean).join(': ') };
}
