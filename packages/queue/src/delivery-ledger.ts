// Makes "at least once" into once within a process: every delivery of an attempt shares one run and its outcome.

interface Run {
  outcome: Promise<void>;
  controller: AbortController;
  state: 'running' | 'done' | 'thrown';
}

export class DeliveryLedger {
  readonly #runs = new Map<string, Run>();

  /** Starts the run at the first delivery; later ones, also after its end, get the same outcome. */
  deliver(id: string, start: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const known = this.#runs.get(id);
    if (known !== undefined) return known.outcome;
    const controller = new AbortController();
    const outcome = start(controller.signal);
    const run: Run = { outcome, controller, state: 'running' };
    this.#runs.set(id, run);
    outcome.then(
      () => { run.state = 'done'; },
      () => { run.state = 'thrown'; },
    );
    return outcome;
  }

  /** True while it runs here and after it went well here. */
  answersFor(id: string): boolean {
    const state = this.#runs.get(id)?.state;
    return state === 'running' || state === 'done';
  }

  abort(id: string, reason: string): void {
    this.#runs.get(id)?.controller.abort(new Error(reason));
  }

  /** Aborts it if it runs; if it was taken an instant ago and comes yet, it is not started. */
  cancel(id: string, reason: string): void {
    if (!this.#runs.has(id)) void this.deliver(id, () => Promise.resolve());
    this.abort(id, reason);
  }

  abortAll(reason: string): void {
    for (const id of this.#runs.keys()) this.abort(id, reason);
  }

  /** Resolves when nothing runs any more. */
  async settle(): Promise<void> {
    await Promise.allSettled([...this.#runs.values()].map(({ outcome }) => outcome));
  }
}
