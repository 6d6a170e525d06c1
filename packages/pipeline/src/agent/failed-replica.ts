// Which replica failed: its name, where it ran, and the log that tells more. Whatever is said of one engine of several says it
// of the right one.
import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import { FAILURE_CLASSES, type Failure } from '@assay/protocol';
import type { Replica } from './replica.ts';

export interface FailedReplica {
  /** "engine-1 on GPU-8932f937": its name, with its devices where there is a choice of them. */
  name: string;
  logFile: string;
}

export function describeReplica({ number, handle, plan }: Pick<Replica, 'number' | 'handle' | 'plan'>): FailedReplica {
  const place = plan && describePlace(plan, number);
  return { name: place ? `${handle.name} on ${place}` : handle.name, logFile: handle.logFile };
}

/** Its GPUs; on CPU its cores, where replicas share them out. */
function describePlace({ data, cpuSets, deviceSets }: Plan, number: number): string | undefined {
  const devices = deviceSets[number] ?? [];
  if (devices.length > 0) return devices.join(', ');
  const cores = cpuSets[number] ?? [];
  if (data <= 1 || cores.length === 0) return undefined;
  return `${cores.length === 1 ? 'core' : 'cores'} ${cores.join(', ')}`;
}

/** A message with whose it is, where there are several. */
export function sayWhose(message: string, plan: Pick<Plan, 'data'>, failed: FailedReplica | undefined): string {
  return failed && plan.data > 1 ? `${failed.name}: ${message}` : message;
}

/** ENGINE_LOAD for what a replica said of its load, or of its probe. */
export function toLoadError(failure: Failure, { name, logFile }: FailedReplica, cause?: unknown): AssayError {
  const { class: failureClass, message } = failure;
  return new AssayError('ENGINE_LOAD', {
    worker: name, class: failureClass, problem: message, log: logFile, instead: `${capitalize(FAILURE_CLASSES[failureClass].remedy)}. The log is ${logFile}.`,
  }, { cause });
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
