// Gives replicas to shards, the least busy first and two shards ahead at most. A shard that is to be alone gets one for itself.
import type { Lease, Replica } from './replica.ts';

/** Shards that a replica holds at once: the next one waits in it before the first ends. */
export const SHARDS_AHEAD = 2;

export class ReplicaLeases {
  readonly #replicas: readonly Replica[];
  readonly #waiting = new Set<() => void>();
  #refusal: Error | undefined;

  /** Of `replicas` as they are when one is asked for. */
  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
  }

  /** Waits for a replica that can take one more shard. `solo`: the replica runs nothing else meanwhile. */
  async take({ solo, signal }: { solo: boolean; signal: AbortSignal }): Promise<Lease> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#refusal) throw this.#refusal;
      const replica = this.#pick(solo);
      if (replica) return this.#grant(replica, solo);
      await this.#nextChange(signal);
    }
  }

  /** From now on nobody gets one, and this is why. */
  refuse(why: Error): void {
    this.#refusal = why;
    this.announce();
  }

  /** Something about the replicas has changed. */
  announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #pick(solo: boolean): Replica | undefined {
    const limit = solo ? 1 : SHARDS_AHEAD;
    return this.#replicas
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
      this.announce();
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
}
