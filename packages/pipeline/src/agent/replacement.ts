// Whether a load that failed is tried again in a fresh process, and under which plan. A plan that ran out of memory is not.
import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import { FAILURE_CLASSES, type Failure } from '@assay/protocol';
import { WorkerFailure } from '@assay/workers';
import { describeFailure } from './describe-failure.ts';

/** How a process is replaced. */
export interface Replacement {
  plan: Plan;
  /** The plan to go on with where a load fails; undefined where no other helps. */
  stepDown?: ((failure: Failure) => Promise<Plan | undefined>) | undefined;
  /** How often the shard it ended under has been cut in two: each cut took a death that says nothing about the replica. */
  cuts?: number;
  /** In words that follow its name. */
  why: string;
}

/** After a load that failed; undefined where that is final. */
export async function findReplacement(thrown: unknown, current: Replacement): Promise<Replacement | undefined> {
  const failure = thrown instanceof WorkerFailure ? describeFailure(thrown) : undefined;
  const smaller = failure && FAILURE_CLASSES[failure.class].rung ? await current.stepDown?.(failure) : undefined;
  if (failure && smaller) return { ...current, plan: smaller, why: `could not load (${failure.message})` };
  const why = hasEnded(thrown) ? 'ended' : findRetryReason(thrown);
  return why === undefined ? undefined : { ...current, why };
}

/** What a fresh process under the same plan may not meet again, in words that follow its name; undefined for anything else. */
export function findRetryReason(thrown: unknown): string | undefined {
  const failure = thrown instanceof WorkerFailure ? thrown.failure : undefined;
  return failure && FAILURE_CLASSES[failure.class].retry ? `could not load (${failure.message})` : undefined;
}

/** True where the process ended under its command, or before it could take one, and not for want of memory. */
function hasEnded(thrown: unknown): boolean {
  const failure = thrown instanceof AssayError && thrown.code === 'WORKER_START' ? thrown.cause : thrown;
  return failure instanceof WorkerFailure && failure.kind === 'ended' && !failure.exhausted;
}
