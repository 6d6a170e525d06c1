// Spawns a worker and keeps its state. Every move goes through the domain's table; every request gets exactly one answer.
import { AssayError, isEndState, moveState, type WorkerState } from '@assay/domain';
import { encodeLine, PROTOCOL_VERSION, type WorkerEvent, type WorkerReply } from '@assay/protocol';
import { readEvents } from './event-reader.ts';
import { climbKillLadder, dumpStacksAndKill } from './kill-ladder.ts';
import { readLogTail, readSize } from './log-tail.ts';
import { type AnsweredCommand, type AnsweredType, type CommandBody, PendingCommands, type ReplyTo, type SilentCommand, type WorkerCommand } from './pending-commands.ts';
import { Exhaustion } from './exhaustion.ts';
import { ownOomKills } from './oom-kills.ts';
import { endGroup, signalGroup } from './process-group.ts';
import { type GuardedProcess, type RawExit, spawnGuarded } from './spawn-guarded.ts';
import { pathToState } from './worker-activity.ts';
import type { MemoryGroup } from './memory-groups.ts';
import { describeExit, type ExitInfo, wasKilled, WorkerFailure } from './worker-failure.ts';
import type { Heartbeat, Hello, SpawnOptions, WorkerHandle } from './worker-handle.ts';

const START_TIMEOUT_MS = 300_000;
const GROUP_GRACE_MS = 500;
const EVENTS_GRACE_MS = 1_000;

/** Returns at once, so that a worker's imports overlap with other work; await `hello` before relying on it. */
export function spawnWorker(options: SpawnOptions): WorkerHandle {
  return new Worker(options);
}

class Worker implements WorkerHandle {
  readonly role: Hello['role'];
  readonly name: string;
  readonly logFile: string;
  readonly hello: Promise<Hello>;
  readonly exited: Promise<ExitInfo>;
  state: WorkerState = 'starting';
  lastProgressAtMs: number;
  lastHeartbeat: Heartbeat | undefined;
  startSeconds: number | undefined;
  garbageLines = 0;

  readonly #options: SpawnOptions;
  readonly #process: GuardedProcess;
  readonly #spawnedAtMs: number;
  readonly #memory: MemoryGroup;
  readonly #exhaustion: Exhaustion;
  readonly #pending = new PendingCommands();
  readonly #greeting = Promise.withResolvers<Hello>();
  #isGreeted = false;
  #isLoaded = false;
  #isStopping = false;
  #killReason: string | undefined;
  #startError: AssayError | undefined;
  #exit: ExitInfo | undefined;
  /** Where the log stood when the worker last did well: older errors explain nothing. */
  #logMark: number;

  constructor(options: SpawnOptions) {
    this.#options = options;
    this.role = options.role;
    this.name = options.name;
    this.logFile = options.logFile;
    this.#spawnedAtMs = this.#now();
    this.lastProgressAtMs = this.#spawnedAtMs;
    this.#logMark = readSize(options.logFile);
    this.#memory = options.memoryGroup ?? { kills: ownOomKills(), remove: async () => undefined };
    this.#exhaustion = new Exhaustion(this.#memory);
    this.#process = spawnGuarded(describeCommand(options));
    this.#process.stdin.on('error', (error) => options.log.debug({ worker: this.name, error: error.message }, 'command not taken'));
    const eventsClosed = readEvents(this.#process.events, {
      protocol: PROTOCOL_VERSION,
      onEvent: (event) => this.#handleEvent(event),
      onForeignHello: (found) => this.#refuse(new AssayError('WORKER_PROTOCOL', { role: this.role, found: String(found), known: PROTOCOL_VERSION })),
      onGarbage: (line, problem) => this.#noteGarbage(line, problem),
      onMisfit: (problem) => void this.kill(problem),
    });
    this.hello = this.#greeting.promise;
    this.hello.catch(() => undefined);
    this.exited = this.#process.ended.then((exit) => this.#conclude(exit, eventsClosed));
    this.#limitStart(options.startTimeoutMs ?? START_TIMEOUT_MS);
  }

  get pid(): number {
    return this.#process.pid;
  }

  async request<Type extends AnsweredType>(body: CommandBody<Type>): Promise<ReplyTo<Type>> {
    if (!this.#isGreeted) await this.hello;
    if (this.#exit !== undefined) throw this.#failEnded(this.#exit);
    const command = { ...body, id: this.#pending.takeId() } as unknown as AnsweredCommand;
    const reply = this.#pending.wait(command);
    this.#write(command);
    this.#settleState();
    return reply as Promise<ReplyTo<Type>>;
  }

  send(command: SilentCommand): void {
    this.#write(command);
    if (command.type !== 'cancel') return;
    const withdrawn = new WorkerFailure({ kind: 'withdrawn', role: this.role, worker: this.name, logFile: this.logFile });
    this.#pending.reject(withdrawn, (other) => other.type === 'shard' && other.shard === command.shard && other.attempt === command.attempt);
    this.#settleState();
  }

  async stop({ graceMs }: { graceMs: number }): Promise<ExitInfo> {
    if (!this.#isStopping && this.#exit === undefined) {
      this.#isStopping = true;
      this.#write({ type: 'exit' });
      if (this.state === 'starting') signalGroup(this.pid, 'SIGTERM');
      else this.#move('draining');
    }
    return climbKillLadder({ pid: this.pid, exited: this.exited, graceMs });
  }

  async kill(reason: string, { dumpStacks = false }: { dumpStacks?: boolean } = {}): Promise<ExitInfo> {
    this.#killReason ??= reason;
    if (dumpStacks) await dumpStacksAndKill(this.pid, this.#process.ended);
    else signalGroup(this.pid, 'SIGKILL');
    return this.exited;
  }

  #handleEvent(event: WorkerEvent): void {
    switch (event.type) {
      case 'hello':
        return this.#greet(event);
      case 'heartbeat':
        if (event.progress > (this.lastHeartbeat?.progress ?? -1)) this.lastProgressAtMs = this.#now();
        this.lastHeartbeat = event;
        return this.#options.onEvent?.(event);
      case 'results':
        this.lastProgressAtMs = this.#now();
        return this.#options.onEvent?.(event);
      default:
        return this.#settle(event);
    }
  }

  #greet(hello: Hello): void {
    if (this.#isGreeted) return this.#noteGarbage('hello', 'said twice');
    this.#isGreeted = true;
    this.startSeconds = (this.#now() - this.#spawnedAtMs) / 1000;
    this.#logMark = readSize(this.logFile);
    this.#move('waiting');
    if (this.#isStopping) this.#move('draining');
    this.#greeting.resolve(hello);
  }

  #settle(reply: WorkerReply): void {
    if (reply.type === 'loaded') this.#isLoaded = true;
    if (reply.type !== 'failed') this.#logMark = readSize(this.logFile);
    this.lastProgressAtMs = this.#now();
    const known = this.#pending.settle(reply, () => this.#failSaid(reply));
    if (!known) this.#options.log.debug({ worker: this.name, type: reply.type, id: reply.id }, 'reply to nothing that waits');
    this.#settleState();
  }

  #failSaid(reply: WorkerReply): WorkerFailure {
    const failure = reply.type === 'failed' ? reply.failure : { class: 'unknown' as const, message: `answered with ${reply.type}` };
    return new WorkerFailure({ kind: 'failed', role: this.role, worker: this.name, logFile: this.logFile, ...this.#exhaustion.explain(failure) });
  }

  #failEnded(exit: ExitInfo): WorkerFailure {
    return new WorkerFailure({ kind: 'ended', role: this.role, worker: this.name, logFile: this.logFile, exit });
  }

  #settleState(): void {
    for (const state of pathToState(this.state, { commands: this.#pending.commands, isLoaded: this.#isLoaded })) this.#move(state);
  }

  #move(to: WorkerState, exit?: ExitInfo): void {
    const from = this.state;
    this.state = moveState('worker', from, to, (move) => this.#options.log.debug({ ...move, worker: this.name }, 'worker state'));
    if (to === 'loading' || to === 'busy') this.lastProgressAtMs = this.#now();
    this.#options.onState?.(exit === undefined ? { from, to } : { from, to, exit });
  }

  #noteGarbage(line: string, problem: string): void {
    this.garbageLines += 1;
    this.#options.log.warn({ worker: this.name, line, problem }, 'not an event');
  }

  #limitStart(timeoutMs: number): void {
    const timer = setTimeout(() => {
      const problem = `it was not up within ${timeoutMs / 1000} s`;
      this.#refuse(new AssayError('WORKER_START', { role: this.role, worker: this.name, problem, log: this.logFile }));
    }, timeoutMs);
    void this.hello.catch(() => undefined).finally(() => clearTimeout(timer));
  }

  #refuse(error: AssayError): void {
    if (this.#isGreeted) return;
    this.#startError ??= error;
    void this.kill(error.message);
  }

  async #conclude(raw: RawExit, eventsClosed: Promise<void>): Promise<ExitInfo> {
    const isForeignKill = wasKilled(raw) && this.#killReason === undefined && !this.#isStopping;
    const exhausted = isForeignKill ? this.#exhaustion.find() : undefined;
    await endGroup(this.pid, GROUP_GRACE_MS);
    await this.#memory.remove();
    await Promise.race([eventsClosed, new Promise((resolve) => setTimeout(resolve, EVENTS_GRACE_MS).unref())]);
    const reason = this.#killReason ?? (this.#isStopping && raw.signal !== null ? 'stopped' : undefined);
    const exit = describeExit(raw, { reason, exhausted }, { ...readLogTail(this.logFile, this.#logMark), logFile: this.logFile });
    this.#exit = exit;
    if (!isEndState('worker', this.state)) this.#move(this.#isStopping ? 'exited' : 'crashed', exit);
    const failure = this.#failEnded(exit);
    this.#pending.reject(failure);
    const problem = [exit.how, exit.firstError].filter(Boolean).join(': ');
    const startError = new AssayError('WORKER_START', { role: this.role, worker: this.name, problem, log: this.logFile }, { cause: failure });
    this.#greeting.reject(this.#startError ?? startError);
    return exit;
  }

  #write(command: WorkerCommand): void {
    if (this.#process.stdin.writable) this.#process.stdin.write(encodeLine(command));
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function describeCommand({ role, python, pythonPath, env, cpus, memoryGroup, logFile, program }: SpawnOptions) {
  return {
    python,
    command: [python, '-u', ...(program ?? ['-m', 'assay_worker', role])],
    env: {
      PYTHONFAULTHANDLER: '1',
      PYTHONUNBUFFERED: '1',
      ...env,
      PYTHONPATH: [pythonPath, process.env['PYTHONPATH']].filter(Boolean).join(':'),
      ASSAY_PARENT_PID: String(process.pid),
    },
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryGroup?.limit ? { membersFile: memoryGroup.limit.membersFile } : {}),
    logFile,
  };
}
