// Why a worker did not do what it was asked: it said so, it ended, or the request was withdrawn.
import { AssayError, ERRORS, type ErrorCode } from '@assay/domain';
import type { Failure } from '@assay/protocol';
import type { LogTail } from './log-tail.ts';
import type { RawExit } from './spawn-guarded.ts';

export interface Exhausted {
  /** In words: what is used up. */
  what: string;
  /** Where something around the worker was used up before its own limit. */
  outside?: OutsideLimit;
}

export interface OutsideLimit {
  limitBytes: number;
  /** The most that the worker ever had; undefined where the kernel does not tell. */
  peakBytes: number | undefined;
}

export interface ExitInfo extends RawExit {
  /** For people: "exit code 1", "SIGSEGV", "ended by Assay: no progress for 300 s". */
  how: string;
  /** Set when this process ended it on purpose. */
  reason?: string;
  /** Where the kernel ended it for want of memory. */
  exhausted?: Exhausted;
  firstError: string;
  /** Its last 100 lines of output. */
  tail: string[];
  logFile: string;
}

export class WorkerFailure extends Error {
  readonly kind: 'failed' | 'ended' | 'withdrawn';
  readonly role: string;
  /** Name of the worker: "engine-1". */
  readonly worker: string;
  readonly logFile: string;
  /** What the worker said (kind "failed"). */
  readonly failure: Failure | undefined;
  /** How it ended (kind "ended"). */
  readonly exit: ExitInfo | undefined;
  /** Where the kernel ended it, or a part of it, for want of memory. */
  readonly exhausted: Exhausted | undefined;

  constructor(fields: { kind: WorkerFailure['kind']; role: string; worker: string; logFile: string; failure?: Failure; exhausted?: Exhausted; exit?: ExitInfo }) {
    super(describe(fields));
    this.name = 'WorkerFailure';
    this.kind = fields.kind;
    this.role = fields.role;
    this.worker = fields.worker;
    this.logFile = fields.logFile;
    this.failure = fields.failure;
    this.exit = fields.exit;
    this.exhausted = fields.exhausted ?? fields.exit?.exhausted;
  }

  /** As an entry of the error table: the worker's own code where it named one, else WORKER_CRASHED. */
  toAssayError(): AssayError {
    const { code, details } = this.failure ?? {};
    if (code !== undefined && Object.hasOwn(ERRORS, code)) {
      return new AssayError(code as ErrorCode, { log: this.logFile, ...details }, { cause: this });
    }
    const how = this.exit?.how ?? this.failure?.class ?? this.kind;
    return new AssayError('WORKER_CRASHED', { role: this.role, worker: this.worker, how, problem: this.message, log: this.logFile }, { cause: this });
  }
}

const FOREIGN_KILL = 'SIGKILL, not sent by Assay, nor for running out of memory as far as the kernel tells';

interface ExitCause {
  /** Why this process ended it. */
  reason: string | undefined;
  /** What ran out of memory, where the kernel ended it for that. */
  exhausted: Exhausted | undefined;
}

export function describeExit(exit: RawExit, { reason, exhausted }: ExitCause, log: LogTail & { logFile: string }): ExitInfo {
  const raw = exit.signal === null ? `exit code ${exit.code}` : exit.signal;
  const killed = exhausted === undefined ? FOREIGN_KILL : describeExhaustion(exhausted.what);
  const how = reason !== undefined ? `ended by Assay: ${reason}` : wasKilled(exit) ? killed : raw;
  const base = { ...exit, how, firstError: log.firstError, tail: log.lines, logFile: log.logFile };
  return { ...base, ...(reason === undefined ? {} : { reason }), ...(exhausted === undefined ? {} : { exhausted }) };
}

/** Also where the interpreter is a script around one, which then reports its child's end. */
export function wasKilled({ code, signal }: RawExit): boolean {
  return signal === 'SIGKILL' || code === 128 + 9;
}

/** The kernel tells that, and no more: which of the engine's terms took the memory is not known. */
export function describeExhaustion(exhausted: string): string {
  return `SIGKILL by the kernel, out of memory: ${exhausted}; by which term is unknown`;
}

function describe({ kind, failure, exit }: { kind: string; failure?: Failure; exit?: ExitInfo }): string {
  if (failure !== undefined) return failure.message;
  if (exit !== undefined) return exit.firstError || 'it said nothing';
  return kind;
}
