// Commands that wait for their reply. Every command gets one answer: its reply, a failure, or the worker's end.
import type { EngineCommand, HarnessCommand, WorkerReply } from '@assay/protocol';

export type WorkerCommand = EngineCommand | HarnessCommand;
export type AnsweredCommand = Extract<WorkerCommand, { id: number }>;
export type AnsweredType = AnsweredCommand['type'];
export type SilentCommand = Exclude<WorkerCommand, { id: number }>;

const REPLIES = {
  load: 'loaded', probe: 'probed', shard: 'shard_done', render: 'rendered', score: 'scored', aggregate: 'aggregated',
} as const satisfies Record<AnsweredType, WorkerReply['type']>;

export type ReplyTo<Type extends AnsweredType> = Extract<WorkerReply, { type: (typeof REPLIES)[Type] }>;
/** A command as the caller writes it: the handle numbers it. */
export type CommandBody<Type extends AnsweredType> = Omit<Extract<AnsweredCommand, { type: Type }>, 'id'> & { type: Type };

interface Waiting {
  command: AnsweredCommand;
  resolve: (reply: WorkerReply) => void;
  reject: (failure: Error) => void;
}

export class PendingCommands {
  #nextId = 1;
  readonly #waiting = new Map<number, Waiting>();

  get commands(): AnsweredCommand[] {
    return [...this.#waiting.values()].map(({ command }) => command);
  }

  takeId(): number {
    return this.#nextId++;
  }

  wait(command: AnsweredCommand): Promise<WorkerReply> {
    return new Promise((resolve, reject) => this.#waiting.set(command.id, { command, resolve, reject }));
  }

  /** True when the reply was waited for. `failure` is made only for a reply that says so, or is not the one asked for. */
  settle(reply: WorkerReply, toFailure: (reply: WorkerReply) => Error): boolean {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return false;
    this.#waiting.delete(reply.id);
    if (reply.type === REPLIES[waiting.command.type]) waiting.resolve(reply);
    else waiting.reject(toFailure(reply));
    return true;
  }

  /** Gives up on the commands that `select` picks. */
  reject(failure: Error, select: (command: AnsweredCommand) => boolean = () => true): void {
    for (const [id, { command, reject }] of this.#waiting) {
      if (!select(command)) continue;
      this.#waiting.delete(id);
      reject(failure);
    }
  }
}
