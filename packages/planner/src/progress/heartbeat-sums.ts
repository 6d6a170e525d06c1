// Adds up the heartbeats of all engine workers. A worker that was replaced starts again at zero; the sums do not.
import type { Heartbeat } from '@assay/protocol';
import type { EngineCounters } from './remaining.ts';

type Beat = Pick<Heartbeat, 'steps' | 'promptTokens' | 'newTokens' | 'runningRequests'>;

interface WorkerSums {
  last: Beat;
  steps: number;
  promptTokens: number;
  newTokens: number;
}

const NO_BEAT: Beat = { steps: 0, promptTokens: 0, newTokens: 0, runningRequests: 0 };

export class HeartbeatSums {
  readonly #workers = new Map<number, WorkerSums>();

  /** Notes the latest heartbeat of replica number `replica`. */
  note(replica: number, beat: Beat): void {
    const sums = this.#workers.get(replica) ?? { last: NO_BEAT, steps: 0, promptTokens: 0, newTokens: 0 };
    const last = beat.steps < sums.last.steps ? NO_BEAT : sums.last;
    sums.steps += beat.steps - last.steps;
    sums.promptTokens += Math.max(0, beat.promptTokens - last.promptTokens);
    sums.newTokens += Math.max(0, beat.newTokens - last.newTokens);
    sums.last = beat;
    this.#workers.set(replica, sums);
  }

  counters(): EngineCounters {
    const all = [...this.#workers.values()];
    const sum = (valueOf: (sums: WorkerSums) => number) => all.reduce((total, sums) => total + valueOf(sums), 0);
    return {
      steps: sum(({ steps }) => steps),
      promptTokens: sum(({ promptTokens }) => promptTokens),
      newTokens: sum(({ newTokens }) => newTokens),
      runningRequests: sum(({ last }) => last.runningRequests),
    };
  }
}
