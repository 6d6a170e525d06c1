// A worker's state follows from what it has been asked and has not answered.
import type { WorkerState } from '@assay/domain';
import type { AnsweredCommand } from './pending-commands.ts';

const SETTLED: readonly WorkerState[] = ['starting', 'draining', 'exited', 'crashed'];

/** The moves that bring a worker from `state` to where its unanswered commands put it. */
export function pathToState(
  state: WorkerState,
  { commands, isLoaded }: { commands: readonly AnsweredCommand[]; isLoaded: boolean },
): WorkerState[] {
  if (SETTLED.includes(state)) return [];
  const idle: WorkerState = isLoaded ? 'ready' : 'waiting';
  const isLoading = commands.some(({ type }) => type === 'load');
  const target: WorkerState = isLoading ? 'loading' : commands.length > 0 ? 'busy' : idle;
  if (target === state) return [];
  // Between two kinds of work it is idle, if only for an instant.
  return state === 'waiting' || state === 'ready' || target === idle ? [target] : [idle, target];
}
