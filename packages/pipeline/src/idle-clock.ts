// Where a run's wall time went while no engine worker was computing, by cause.
// Intervals are half-open; at any moment the engine is computing or exactly one cause is in force.

export const IDLE_CAUSES = ['render', 'load', 'queue', 'score'] as const;
type IdleCause = (typeof IDLE_CAUSES)[number];

export interface IdleShare {
  wallSeconds: number;
  computingSeconds: number;
  idleSeconds: Record<IdleCause, number>;
}

export class IdleClock {
  #now: () => number;
  #startedAtMs: number;
  #sinceMs: number;
  #cause: IdleCause = 'render';
  #computing = 0;
  #computingMs = 0;
  #idleMs: Record<IdleCause, number> = { render: 0, load: 0, queue: 0, score: 0 };

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAtMs = now();
    this.#sinceMs = this.#startedAtMs;
  }

  /** What idle time from now on is due to. */
  setCause(cause: IdleCause): void {
    this.#settle();
    this.#cause = cause;
  }

  /** One more engine worker is computing. */
  beginComputing(): void {
    this.#settle();
    this.#computing += 1;
  }

  endComputing(): void {
    this.#settle();
    this.#computing -= 1;
  }

  share(): IdleShare {
    this.#settle();
    const idleSeconds = Object.fromEntries(IDLE_CAUSES.map((cause) => [cause, this.#idleMs[cause] / 1000]));
    return {
      wallSeconds: (this.#sinceMs - this.#startedAtMs) / 1000,
      computingSeconds: this.#computingMs / 1000,
      idleSeconds: idleSeconds as Record<IdleCause, number>,
    };
  }

  #settle(): void {
    const nowMs = this.#now();
    const spentMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (this.#computing > 0) this.#computingMs += spentMs;
    else this.#idleMs[this.#cause] += spentMs;
  }
}
