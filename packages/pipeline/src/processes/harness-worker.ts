// The harness worker of a run: one Python process that renders, and later scores what it rendered.
import { type AnsweredType, type CommandBody, type ReplyTo, spawnWorker, WorkerFailure, type WorkerHandle } from '@assay/workers';
import { AssayError } from '@assay/domain';
import { WORKER_PATH } from './worker-path.ts';

/** Requests to the harness, whose refusals come back as errors of the table. */
export class HarnessWorker {
  readonly handle: WorkerHandle;

  constructor(options: Omit<Parameters<typeof spawnWorker>[0], 'role' | 'name' | 'pythonPath'>) {
    this.handle = spawnWorker({ ...options, role: 'harness', name: 'harness', pythonPath: WORKER_PATH });
  }

  async request<Type extends AnsweredType>(command: CommandBody<Type>): Promise<ReplyTo<Type>> {
    try {
      return await this.handle.request(command);
    } catch (thrown) {
      throw thrown instanceof WorkerFailure ? toHarnessError(thrown, command.type) : thrown;
    }
  }
}

/** A refusal that names a code of the table is the user's to mend; anything else is the harness's failure. */
function toHarnessError(failure: WorkerFailure, stage: string): AssayError {
  if (failure.kind === 'ended' || failure.failure?.code !== undefined) return failure.toAssayError();
  return new AssayError('HARNESS_FAILED', { stage, problem: failure.message, log: failure.logFile }, { cause: failure });
}
