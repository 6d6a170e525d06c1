// The engine workers of this run: one process per replica, replaced when it dies. Invariant: a replica that gets nowhere under one
// plan is not started again without end.
import { AssayError } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { Loaded, Probed, ProbeStep } from '@assay/protocol';
import { WorkerFailure, type WorkerHandle } from '@assay/workers';
import { describeFailure } from './describe-failure.ts';
import { describeReplica, toLoadError } from './failed-replica.ts';
import { findReplacement, findRetryReason, type Replacement } from './replacement.ts';
import { ReplicaLeases } from './replica-leases.ts';
import type { Lease, Replica } from './replica.ts';

/** A replica that dies this often in a row without finishing a request, under one plan, is not started again. */
const MAX_BARREN_RESTARTS = 6;

interface EnginePoolInput {
  /** Returns at once; the worker says hello when its imports are done. */
  spawn(number: number): WorkerHandle;
  load(replica: Replica, plan: Plan): Promise<Loaded>;
  /** Called with why its process is replaced, before the next one is spawned. */
  onRestart(replica: Replica, why: string): void;
}

interface Restart extends Omit<Replacement, 'why'> {
  replica: Replica;
  /** Its process, which is to be replaced. */
  failed: WorkerHandle;
}

export class EnginePool {
  readonly replicas: Replica[] = [];
  readonly #input: EnginePoolInput;
  readonly #leases = new ReplicaLeases(this.replicas);
  #isClosing = false;

  constructor(input: EnginePoolInput) {
    this.#input = input;
  }

  /** Spawns replicas until there are `count`; they import while the requests are rendered. */
  start(count: number): void {
    for (let number = this.replicas.length; number < count; number += 1) {
      this.replicas.push({
        number, handle: this.#input.spawn(number), plan: undefined, loaded: undefined, inFlight: 0, hasSolo: false, barrenRestarts: 0, isDown: false,
      });
    }
  }

  /** Ends every replica but the first `kept`, so that others can be started, or none. */
  async stopAll({ kept = 0 } = {}): Promise<void> {
    await Promise.all(this.replicas.splice(kept).map(({ handle }) => handle.stop({ graceMs: 0 })));
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
  lease(wish: { solo: boolean; signal: AbortSignal }): Promise<Lease> {
    return this.#leases.take(wish);
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
      this.#leases.announce();
    } catch (thrown) {
      if (!this.#isClosing) this.#leases.refuse(thrown instanceof WorkerFailure ? toLoadError(describeFailure(thrown), describeReplica(replica), thrown) : thrown as Error);
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

  #giveUp(replica: Replica, reason: string): AssayError {
    const { name, logFile } = describeReplica(replica);
    return new AssayError('WORKER_CRASHED', {
      role: 'engine', worker: name, how: `${replica.barrenRestarts} times in a row`, log: logFile,
      problem: `no request was finished in between${reason === 'ended' ? '' : `; at last it ${reason}`}`,
    });
  }
}
