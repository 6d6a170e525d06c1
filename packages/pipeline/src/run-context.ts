// What the stages of one run share. A stage takes this and its inputs and returns its output.
import { type Determinism, moveState, redactText, type RunConfig, type RunState } from '@assay/domain';
import type { EventLog, OpenRunDirectory, RunEvent } from '@assay/store';
import type { Logger, Metrics } from '@assay/telemetry';
import type { Experience } from './experience/experience.ts';
import { IDLE_CAUSES, type IdleClock } from './idle-clock.ts';
import type { RunObserver } from './observer.ts';

export interface RunContext {
  config: RunConfig;
  determinism: Determinism;
  /** The command line, for the record. */
  command: readonly string[];
  cwd: string;
  home: string;
  python: string;
  run: OpenRunDirectory;
  events: EventLog;
  experience: Experience;
  epoch: number;
  log: Logger;
  metrics: Metrics;
  ui: RunObserver;
  idle: IdleClock;
  /** Aborted by the first Ctrl-C: finish what is in the engines. */
  drain: AbortSignal;
  /** Aborted by the second, by run_timeout and by a failure: stop now. */
  stop: AbortSignal;
}

/** Moves the run to `to`: refused where the table lacks it, written to the events, shown and counted. */
export async function enterState(context: RunContext, to: RunState, reason?: string): Promise<void> {
  const from = context.events.history.state as RunState;
  moveState('run', from, to, (move) => context.log.info(move, 'run state'));
  const event: RunEvent = { type: 'state_changed', epoch: context.epoch, machine: 'run', from, to, ...(reason ? { reason } : {}) };
  await context.events.append(event);
  context.metrics.setState('assay_run_state', to);
}

/** Runs a stage, and records how long it took. */
export async function timeStage<Output>(context: RunContext, stage: string, work: () => Promise<Output>): Promise<Output> {
  context.ui.onStage(stage);
  const startedAtMs = Date.now();
  try {
    return await work();
  } finally {
    const seconds = (Date.now() - startedAtMs) / 1000;
    await context.events.append({ type: 'stage_timed', epoch: context.epoch, stage, seconds });
    context.log.info({ stage, seconds }, 'stage');
  }
}

/** Brings the metrics up to the clock. */
export function countIdle({ idle, metrics }: Pick<RunContext, 'idle' | 'metrics'>): void {
  const { idleSeconds } = idle.share();
  for (const cause of IDLE_CAUSES) metrics.raise('assay_idle_seconds_total', idleSeconds[cause], { cause });
}

/** Shows a warning about this start alone; it is counted, and kept by the log. */
export function showWarning({ log, metrics, ui }: RunContext, message: string, fields: object = {}): void {
  ui.onWarning(message);
  log.warn(fields, message);
  metrics.add('assay_warnings_total', 1);
}

/** A warning about the run: shown, counted, logged, and in the events for the manifest. */
export async function warn(context: RunContext, code: string, message: string): Promise<void> {
  // As the events have it, so that a warning that a start repeats is known again.
  const clean = redactText(message);
  const isKnown = context.events.history.warnings.some((warning) => warning.code === code && warning.message === clean);
  showWarning(context, clean, { code });
  if (!isKnown) await context.events.append({ type: 'warning', epoch: context.epoch, code, message: clean });
}
