// The engine workers of this run: one process per replica, replaced when it dies, two shards ahead at most.
import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { Loaded, Probed, ProbeStep } from '@assay/protocol';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';

/** Shards that a replica holds at once: the next one waits in it before the first ends. */
export const SHARDS_AHEAD = 2;
/** A replica that dies this often in a row without finishing a request is not started again. */
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
  onRestart(replica: Replica): void;
}

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

  async load(plan: Plan): Promise<Loaded[]> {
    return Promise.all(this.replicas.map((replica) => this.#load(replica, plan)));
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
  async restart({ replica, failed, plan }: { replica: Replica; failed: WorkerHandle; plan: Plan }): Promise<void> {
    if (replica.handle !== failed || replica.isDown || this.#isClosing) return;
    replica.isDown = true;
    try {
      await failed.stop({ graceMs: 0 });
      await this.#replace(replica, plan);
      replica.isDown = false;
    } catch (thrown) {
      if (!this.#isClosing) this.#failure = thrown as Error;
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

  /** A process that dies while it loads is replaced again, as one that dies at work is; what a load says is final. */
  async #replace(replica: Replica, plan: Plan): Promise<void> {
    for (;;) {
      replica.barrenRestarts += 1;
      if (replica.barrenRestarts > MAX_BARREN_RESTARTS) throw this.#giveUp(replica);
      this.#input.onRestart(replica);
      replica.handle = this.#input.spawn(replica.number);
      try {
        await this.#load(replica, plan);
        return;
      } catch (thrown) {
        if (this.#isClosing || !hasEnded(thrown)) throw thrown;
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

  #giveUp(replica: Replica): AssayError {
    return new AssayError('WORKER_CRASHED', {
      role: 'engine', how: `${MAX_BARREN_RESTARTS} times in a row`, problem: 'no request was finished in between', log: replica.handle.logFile,
    });
  }
}

/** True where the process ended under its command, or before it could take one. */
function hasEnded(thrown: unknown): boolean {
  const failure = thrown instanceof AssayError && thrown.code === 'WORKER_START' ? thrown.cause : thrown;
  return failure instanceof WorkerFailure && failure.kind === 'ended';
}
