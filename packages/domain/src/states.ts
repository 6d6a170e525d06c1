// The states of a run, a shard and a worker, each with the moves it allows. One function makes every move.
import { AssayError } from './errors.ts';

type StateTable = Readonly<Record<string, readonly string[]>>;

export const RUN_STATES = {
  created: ['queued', 'interrupted', 'failed', 'canceled'],
  queued: ['rendering', 'interrupted', 'failed', 'canceled'],
  rendering: ['planning', 'interrupted', 'failed', 'canceled'],
  planning: ['probing', 'interrupted', 'failed', 'canceled'],
  probing: ['running', 'interrupted', 'failed', 'canceled'],
  running: ['scoring', 'paused', 'planning', 'interrupted', 'failed', 'canceled'],
  paused: ['running', 'interrupted', 'failed', 'canceled'],
  scoring: ['sealed', 'incomplete', 'interrupted', 'failed', 'canceled'],
  sealed: ['queued'],
  incomplete: ['queued'],
  interrupted: ['queued'],
  failed: ['queued'],
  canceled: ['queued'],
} as const satisfies StateTable;

export const SHARD_STATES = {
  pending: ['leased', 'canceled'],
  leased: ['running', 'pending', 'failed', 'canceled'],
  running: ['done', 'pending', 'failed', 'canceled'],
  done: [],
  failed: [],
  canceled: [],
} as const satisfies StateTable;

export const WORKER_STATES = {
  starting: ['waiting', 'crashed', 'exited'],
  waiting: ['loading', 'busy', 'draining', 'crashed', 'exited'],
  loading: ['ready', 'waiting', 'draining', 'crashed', 'exited'],
  ready: ['busy', 'draining', 'crashed', 'exited'],
  busy: ['ready', 'waiting', 'draining', 'crashed', 'exited'],
  draining: ['exited', 'crashed'],
  exited: [],
  crashed: [],
} as const satisfies StateTable;

export type RunState = keyof typeof RUN_STATES;
export type ShardState = keyof typeof SHARD_STATES;
export type WorkerState = keyof typeof WORKER_STATES;

export const STATE_TABLES = { run: RUN_STATES, shard: SHARD_STATES, worker: WORKER_STATES } as const;
export type StateMachine = keyof typeof STATE_TABLES;

export function canMove(machine: StateMachine, from: string, to: string): boolean {
  const table: StateTable = STATE_TABLES[machine];
  return Object.hasOwn(table, from) && (table[from]?.includes(to) ?? false);
}

/** Returns the new state, after telling `log`; throws ILLEGAL_STATE for a move the table lacks. */
export function moveState<State extends string>(
  machine: StateMachine,
  from: State,
  to: State,
  log: (move: { machine: StateMachine; from: State; to: State }) => void,
): State {
  if (!canMove(machine, from, to)) throw new AssayError('ILLEGAL_STATE', { machine, from, to });
  log({ machine, from, to });
  return to;
}

/** True where a process is at work on the run, or was when it died: only such a run can be interrupted. */
export function isWorking(state: string): boolean {
  return canMove('run', state, 'interrupted');
}

/** True where a start has ended and the same command begins another: of a sealed run only where its manifest was taken away. */
export function isResumable(state: string): boolean {
  return canMove('run', state, 'queued') && !isWorking(state) && state !== 'sealed';
}

export function isEndState(machine: StateMachine, state: string): boolean {
  const table: StateTable = STATE_TABLES[machine];
  return table[state]?.length === 0;
}
