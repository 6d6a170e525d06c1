// Adds up the heartbeats of all engine workers. A worker that was replaced starts again at zero; the sums do not.
import type { Heartbeat } from '@assay/protocol';
import type { EngineCounters } from './remaining.ts';

type Beat = Pick<Heartbeat, 'steps' | 'promptTokens' | 'newTokens' | 'runningRequests'>;

interface WorkerSums {
  last: Beat;
  promptTokens: number;
  newTokens: number;
  /** Tokens by steps: every running sequence makes one in each. */
  steppedTokens: number;
}

const NO_BEAT: Beat = { steps: 0, promptTokens: 0, newTokens: 0, runningRequests: 0 };

export class HeartbeatSums {
  readonly #workers = new Map<number, WorkerSums>();

  /** Notes the latest heartbeat of replica number `replica`. */
  note(replica: number, beat: Beat): void {
    const sums = this.#workers.get(replica) ?? { last: beat, promptTokens: 0, newTokens: 0, steppedTokens: 0 };
    const last = beat.steps < sums.last.steps ? NO_BEAT : sums.last;
    sums.promptTokens += Math.max(0, beat.promptTokens - last.promptTokens);
    sums.newTokens += Math.max(0, beat.newTokens - last.newTokens);
    sums.steppedTokens += (beat.steps - last.steps) * Math.min(beat.runningRequests, last.runningRequests);
    sums.last = beat;
    this.#workers.set(replica, sums);
  }

  /** The workers' answers so far; where a worker counts tokens only when a request ends, its steps tell of the rest. */
  counters(): EngineCounters {
    const all = [...this.#workers.values()];
    const sum = (valueOf: (sums: WorkerSums) => number) => all.reduce((total, sums) => total + valueOf(sums), 0);
    return {
      promptTokens: sum(({ promptTokens }) => promptTokens),
      newTokens: sum(({ newTokens, steppedTokens }) => Math.max(newTokens, steppedTokens)),
      runningRequests: sum(({ last }) => last.runningRequests),
    };
  }
}
