// What the events add up to: epochs, attempts, fences, states. A fold without I/O, so that a reader and the writer agree.
import { formatAttempt } from '@assay/domain';
import type { EventOf, LoggedEvent } from './run-events.ts';

export interface RunHistory {
  /** Of the latest start; 0 before the first. */
  epoch: number;
  state: string;
  /** "<epoch>-<shard>" → the highest attempt started. */
  attempts: Map<string, number>;
  /** "<epoch>-<shard>-<attempt>" → bytes of its results file that count. */
  fences: Map<string, number>;
  /** Attempts that ended with every request answered: whole, for `strict`. */
  finished: Set<string>;
  failedAttempts: number;
  warnings: EventOf<'warning'>[];
  waivers: EventOf<'waived'>[];
  rungs: EventOf<'rung_taken'>[];
  orders: EventOf<'order_written'>[];
  workers: Map<string, { started: EventOf<'worker_started'>; ended: EventOf<'worker_ended'> | undefined }>;
  shards: EventOf<'shard_done'>[];
  /** Seconds by stage and by cause of idleness, summed over the epochs. */
  stageSeconds: Map<string, number>;
  idleSeconds: Map<string, number>;
  requestPhases: EventOf<'request_phase'>[];
}

export function emptyHistory(): RunHistory {
  return {
    epoch: 0, state: 'created', attempts: new Map(), fences: new Map(), finished: new Set(), failedAttempts: 0, warnings: [], waivers: [], rungs: [],
    orders: [], workers: new Map(), shards: [], stageSeconds: new Map(), idleSeconds: new Map(), requestPhases: [],
  };
}

export function foldEvents(events: readonly LoggedEvent[]): RunHistory {
  const history = emptyHistory();
  for (const event of events) applyEvent(history, event);
  return history;
}

/** The attempt number that comes after those in the events. */
export function nextAttempt(history: RunHistory, epoch: number, shard: string): number {
  return (history.attempts.get(`${epoch}-${shard}`) ?? 0) + 1;
}

/** Seconds from first request to last result, summed over the epochs. */
export function sumRequestPhases(history: RunHistory): number {
  return history.requestPhases.reduce((sum, { firstStepAt, lastResultAt }) => sum + Math.max(0, lastResultAt - firstStepAt), 0);
}

const APPLY: { [Type in LoggedEvent['type']]?: (history: RunHistory, event: EventOf<Type>) => void } = {
  epoch_started: (history, { epoch }) => { history.epoch = Math.max(history.epoch, epoch); },
  state_changed: (history, { to }) => { history.state = to; },
  shard_started: (history, { epoch, shard, attempt }) => { raise(history.attempts, `${epoch}-${shard}`, attempt); },
  shard_fenced: (history, event) => { lower(history.fences, formatAttempt(event), event.bytes); },
  shard_done: (history, event) => { history.finished.add(formatAttempt(event)); history.shards.push(event); },
  attempt_failed: (history) => { history.failedAttempts += 1; },
  worker_started: (history, event) => { history.workers.set(`${event.epoch}-${event.worker}-${event.pid}`, { started: event, ended: undefined }); },
  worker_ended: (history, event) => {
    const worker = history.workers.get(`${event.epoch}-${event.worker}-${event.pid}`);
    if (worker) worker.ended = event;
  },
  warning: (history, event) => { history.warnings.push(event); },
  waived: (history, event) => { history.waivers.push(event); },
  rung_taken: (history, event) => { history.rungs.push(event); },
  order_written: (history, event) => { history.orders.push(event); },
  stage_timed: (history, { stage, seconds }) => { add(history.stageSeconds, stage, seconds); },
  idle: (history, { cause, seconds }) => { add(history.idleSeconds, cause, seconds); },
  request_phase: (history, event) => { history.requestPhases.push(event); },
};

/** Adds one event in place. */
export function applyEvent(history: RunHistory, event: LoggedEvent): void {
  const apply = APPLY[event.type] as ((history: RunHistory, event: LoggedEvent) => void) | undefined;
  apply?.(history, event);
}

function raise(numbers: Map<string, number>, name: string, value: number): void {
  numbers.set(name, Math.max(numbers.get(name) ?? 0, value));
}

function lower(numbers: Map<string, number>, name: string, value: number): void {
  numbers.set(name, Math.min(numbers.get(name) ?? value, value));
}

function add(sums: Map<string, number>, name: string, value: number): void {
  sums.set(name, (sums.get(name) ?? 0) + value);
}
