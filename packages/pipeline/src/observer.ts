// What a run tells whoever watches it. Every method may be called at any time; none may throw.
import type { TimeEstimate } from '@assay/domain';
import type { Plan, RemainingEstimate } from '@assay/planner';
import type { AnswerTally, Coverage, MetricRow } from '@assay/protocol';
import type { Selections } from '@assay/reports';
import type { IdleShare } from './idle-clock.ts';
import type { ProbeReport } from './records/probe-report.ts';

export interface RunProgress {
  finalRequests: number;
  totalRequests: number;
  openRequests: number;
  shardsDone: number;
  shardsTotal: number;
  workersReady: number;
  remaining: RemainingEstimate;
  elapsedSeconds: number;
}

export interface RunObserver {
  onStage(stage: string): void;
  /** Something a person may want to know. */
  onNote(text: string): void;
  onWarning(text: string): void;
  /** `time`: predicted; undefined where a run continues. */
  onPlan(plan: Plan, time: TimeEstimate | undefined): void;
  onProbe(report: ProbeReport): void;
  onProgress(progress: RunProgress): void;
  onTaskScored(rows: readonly MetricRow[]): void;
}

export interface RunSummary {
  runDir: string;
  state: 'sealed' | 'incomplete';
  exitCode: number;
  rows: readonly MetricRow[];
  /** By task, as in the manifest. */
  coverage: Readonly<Record<string, Coverage>>;
  /** Share of generated answers of each task that were stopped by their token budget. */
  lengthShare: Readonly<Record<string, number>>;
  /** Of each task that has been scored: how many answers were cut, unfinished or copies. */
  answers: Readonly<Record<string, AnswerTally>>;
  /** Of each task of which only some documents were asked: how many, of how many. */
  selections: Selections;
  idle: IdleShare;
  warnings: readonly string[];
}
