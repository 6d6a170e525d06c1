// What the rest of Assay sees of a worker process.
import type { Log, WorkerState } from '@assay/domain';
import type { WorkerEvent } from '@assay/protocol';
import type { MemoryGroup } from './memory-groups.ts';
import type { AnsweredType, CommandBody, ReplyTo, SilentCommand } from './pending-commands.ts';
import type { ExitInfo } from './worker-failure.ts';

export type Hello = Extract<WorkerEvent, { type: 'hello' }>;
export type Heartbeat = Extract<WorkerEvent, { type: 'heartbeat' }>;
/** Events that answer no command. */
export type WorkerNews = Extract<WorkerEvent, { type: 'heartbeat' | 'results' }>;

export interface WorkerMove {
  from: WorkerState;
  to: WorkerState;
  exit?: ExitInfo;
}

export interface SpawnOptions {
  role: Hello['role'];
  /** Unique within the run, such as "engine-0". */
  name: string;
  python: string;
  /** The folder that holds the assay_worker package. */
  pythonPath: string;
  env?: Readonly<Record<string, string>>;
  /** CPU cores it may use; all when absent. */
  cpus?: readonly number[];
  /** The one it shares with this process when absent. */
  memoryGroup?: MemoryGroup;
  logFile: string;
  log: Log;
  /** Called for every heartbeat and batch of results, before the reply that may follow is given. */
  onEvent?: (event: WorkerNews) => void;
  onState?: (move: WorkerMove) => void;
  startTimeoutMs?: number;
  /** What Python runs instead of `-m assay_worker ROLE`. */
  program?: readonly string[];
  now?: () => number;
}

export interface WorkerHandle {
  readonly role: Hello['role'];
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly state: WorkerState;
  /** When it last did anything: its progress rose, it answered, or it was given work while idle. */
  readonly lastProgressAtMs: number;
  readonly lastHeartbeat: Heartbeat | undefined;
  /** Lines on fd 3 that were no events. */
  readonly garbageLines: number;
  /** Rejects with WORKER_START, WORKER_PROTOCOL or PYTHON_MISSING; the process has then ended. */
  readonly hello: Promise<Hello>;
  /** From the process to its `hello`; undefined until then. */
  readonly startSeconds?: number | undefined;
  /** Resolves once the process and everything in its group is gone and every event it wrote was handled. Never rejects. */
  readonly exited: Promise<ExitInfo>;
  /** Sent after `hello`, in order. Rejects with WorkerFailure when the worker refuses, ends, or the attempt is withdrawn. */
  request<Type extends AnsweredType>(command: CommandBody<Type>): Promise<ReplyTo<Type>>;
  /** Sends a command that has no reply. `cancel` also withdraws the request of that shard attempt. */
  send(command: SilentCommand): void;
  /** Lets it finish what it has, then SIGTERM after `graceMs`, then SIGKILL for the whole group. */
  stop(options: { graceMs: number }): Promise<ExitInfo>;
  /** Ends it now. With `dumpStacks`, Python first writes the stack of every thread to the log. */
  kill(reason: string, options?: { dumpStacks?: boolean }): Promise<ExitInfo>;
}
