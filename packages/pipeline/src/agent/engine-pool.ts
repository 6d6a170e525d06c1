// The engine workers of this run: one process per replica, replaced when it dies, two shards ahead at most.
import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import { FAILURE_CLASSES, type Failure, type Loaded, type Probed, type ProbeStep } from '@assay/protocol';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { describeFailure } from './describe-failure.ts';
import { describeReplica, toLoadError } from './failed-replica.ts';

/** Shards that a replica holds at once: the next one waits in it before the first ends. */
export const SHARDS_AHEAD = 2;
/** A replica that dies this often in a row without finishing a request, under one plan, is not started again. */
const MAX_BARREN_RESTARTS = 6;

export interface Replica {
  number: number;
  handle: WorkerHandle;
  plan: Plan | undefined;
  loaded: Loaded | undefined;
  inFlight: number;
  hasSolo: boolean;
  barrenRestarts: number;
  isDown: boolean;
}

export interface Lease {
  replica: Replica;
  /** The process this lease was given on; a restart replaces the replica's. */
  handle: WorkerHandle;
  release(): void;
}

interface EnginePoolInput {
  /** Returns at once; the worker says hello when its imports are done. */
  spawn(number: number): WorkerHandle;
  load(replica: Replica, plan: Plan): Promise<Loaded>;
  /** Called with why its process is replaced, before the next one is spawned. */
  onRestart(replica: Replica, why: string): void;
}

interface Restart {
  replica: Replica;
  /** Its process, which is to be replaced. */
  failed: WorkerHandle;
  plan: Plan;
  /** The plan to go on with where a load fails; undefined where no other helps. */
  stepDown?: ((failure: Failure) => Promise<Plan | undefined>) | undefined;
  /** How often the shard it ended under has been cut in two: each cut took a death that says nothing about the replica. */
  cuts?: number;
}

/** How a process is replaced: under which plan, and why, in words that follow its name. */
type Replacement = Pick<Restart, 'plan' | 'stepDown' | 'cuts'> & { why: string };

export class EnginePool {
  readonly replicas: Replica[] = [];
  readonly #input: EnginePoolInput;
  #waiting = new Set<() => void>();
  #failure: Error | undefined;
  #isClosing = false;

  constructor(input: EnginePoolInput) {
    this.#input = input;
  }

  /** Spawns the replicas; they import while the requests are rendered. */
  start(count: number): void {
    for (let number = 0; number < count; number += 1) {
      this.replicas.push({
        number, handle: this.#input.spawn(number), plan: undefined, loaded: undefined, inFlight: 0, hasSolo: false, barrenRestarts: 0, isDown: false,
      });
    }
  }

  /** Ends every replica, so that others can be started. */
  async stopAll(): Promise<void> {
    await Promise.all(this.replicas.splice(0).map(({ handle }) => handle.stop({ graceMs: 0 })));
  }

  /** Rejects with the first replica's failure, a WorkerFailure that names it. What may go better at once is tried again first. */
  async load(plan: Plan): Promise<Loaded[]> {
    return Promise.all(this.replicas.map((replica) => this.#loadFirst(replica, plan)));
  }

  /** The worst step on every replica at the same time: they share the machine's memory. */
  async probe(steps: ProbeStep[]): Promise<Probed[]> {
    return Promise.all(this.replicas.map(({ handle }) => handle.request({ type: 'probe', steps })));
  }

  /** Waits for a replica that can take one more shard. `solo`: the replica runs nothing else meanwhile. */
  async lease({ solo, signal }: { solo: boolean; signal: AbortSignal }): Promise<Lease> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#failure) throw this.#failure;
      const replica = this.#pick(solo);
      if (replica) return this.#grant(replica, solo);
      await this.#nextChange(signal);
    }
  }

  /** Replaces the process `failed` under `plan`; its shards are the caller's to requeue. Several callers do it once. */
  async restart({ replica, failed, ...next }: Restart): Promise<void> {
    if (replica.handle !== failed || replica.isDown || this.#isClosing) return;
    replica.isDown = true;
    if (next.plan !== replica.plan) replica.barrenRestarts = 0;
    try {
      await failed.stop({ graceMs: 0 });
      await this.#replace(replica, { ...next, why: 'ended' });
      replica.isDown = false;
    } catch (thrown) {
      if (!this.#isClosing) this.#failure = thrown instanceof WorkerFailure ? toLoadError(describeFailure(thrown), describeReplica(replica), thrown) : thrown as Error;
    } finally {
      this.#announce();
    }
  }

  noteProgress(replica: Replica): void {
    replica.barrenRestarts = 0;
  }

  readyCount(): number {
    return this.replicas.filter(({ isDown, loaded }) => loaded && !isDown).length;
  }

  async stop(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.replicas.map(({ handle }) => handle.stop({ graceMs })));
  }

  async #load(replica: Replica, plan: Plan): Promise<Loaded> {
    replica.plan = plan;
    replica.loaded = await this.#input.load(replica, plan);
    return replica.loaded;
  }

  async #loadFirst(replica: Replica, plan: Plan): Promise<Loaded> {
    const failed = replica.handle;
    try {
      return await this.#load(replica, plan);
    } catch (thrown) {
      const why = this.#isClosing ? undefined : findRetryReason(thrown);
      if (why === undefined) throw thrown;
      await failed.stop({ graceMs: 0 });
      return this.#replace(replica, { plan, why });
    }
  }

  /**
   * A process that dies while it loads is replaced again, as one that dies at work is; what a load says is final, but for what
   * another plan helps, and what a fresh process may not meet again.
   */
  async #replace(replica: Replica, first: Replacement): Promise<Loaded> {
    for (let current = first; ;) {
      replica.barrenRestarts += 1;
      // The pool ends, or another replica's failure has ended all of them: nothing more is started.
      if (this.#isClosing || !this.replicas.includes(replica)) throw new AssayError('INTERRUPTED', { instead: 'Give the same command again.' });
      if (replica.barrenRestarts > MAX_BARREN_RESTARTS + (current.cuts ?? 0)) throw this.#giveUp(replica, current.why);
      this.#input.onRestart(replica, current.why);
      replica.handle = this.#input.spawn(replica.number);
      try {
        return await this.#load(replica, current.plan);
      } catch (thrown) {
        const next = this.#isClosing ? undefined : await findReplacement(thrown, current);
        if (next === undefined) throw thrown;
        // Its deaths count for the plan that it died under.
        if (next.plan !== current.plan) replica.barrenRestarts = 0;
        await replica.handle.stop({ graceMs: 0 });
        current = next;
      }
    }
  }

  #pick(solo: boolean): Replica | undefined {
    const limit = solo ? 1 : SHARDS_AHEAD;
    return this.replicas
      .filter(({ isDown, hasSolo, inFlight, loaded }) => loaded && !isDown && !hasSolo && inFlight < limit)
      .sort((a, b) => a.inFlight - b.inFlight)[0];
  }

  #grant(replica: Replica, solo: boolean): Lease {
    replica.inFlight += 1;
    replica.hasSolo ||= solo;
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      replica.inFlight -= 1;
      if (solo) replica.hasSolo = false;
      this.#announce();
    };
    return { replica, handle: replica.handle, release };
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #giveUp(replica: Replica, reason: string): AssayError {
    const { name, logFile } = describeReplica(replica);
    return new AssayError('WORKER_CRASHED', {
      role: 'engine', worker: name, how: `${replica.barrenRestarts} times in a row`, log: logFile,
      problem: `no request was finished in between${reason === 'ended' ? '' : `; at last it ${reason}`}`,
    });
  }
}

/** After a load that failed; undefined where that is final. A plan that ran out of memory is not tried again. */
async function findReplacement(thrown: unknown, current: Replacement): Promise<Replacement | undefined> {
  const failure = thrown instanceof WorkerFailure ? describeFailure(thrown) : undefined;
  const smaller = failure && FAILURE_CLASSES[failure.class].rung ? await current.stepDown?.(failure) : undefined;
  if (failure && smaller) return { ...current, plan: smaller, why: `could not load (${failure.message})` };
  const why = hasEnded(thrown) ? 'ended' : findRetryReason(thrown);
  return why === undefined ? undefined : { ...current, why };
}

/** True where the process ended under its command, or before it could take one, and not for want of memory. */
function hasEnded(thrown: unknown): boolean {
  const failure = thrown instanceof AssayError && thrown.code === 'WORKER_START' ? thrown.cause : thrown;
  return failure instanceof WorkerFailure && failure.kind === 'ended' && !failure.exit?.isOutOfMemory;
}

/** What a fresh process under the same plan may not meet again, in words that follow its name; undefined for anything else. */
function findRetryReason(thrown: unknown): string | undefined {
  const failure = thrown instanceof WorkerFailure ? thrown.failure : undefined;
  return failure && FAILURE_CLASSES[failure.class].retry ? `could not load (${failure.message})` : undefined;
}
