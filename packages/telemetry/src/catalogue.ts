// The closed list of metrics. Labels take values from closed lists too, so the number of time series is the same for every
// run: ids of runs, shards and samples belong into logs. docs/metrics.md is tested against this table in both directions.
import { ATTEMPT_OUTCOMES, OUTCOME_NAMES, REQUEST_KINDS, RUN_STATES, type RunState, SHARD_STATES, type ShardState, WORKER_STATES, type WorkerState } from '@assay/domain';

const RUN_STATE_NAMES = Object.keys(RUN_STATES) as RunState[];
const SHARD_STATE_NAMES = Object.keys(SHARD_STATES) as ShardState[];
const WORKER_STATE_NAMES = Object.keys(WORKER_STATES) as WorkerState[];

const ROLES = ['engine', 'harness'] as const;
const VERDICTS = ['fits', 'oom', 'failed'] as const;

export interface MetricEntry {
  type: 'gauge' | 'counter' | 'histogram';
  help: string;
  labels?: Readonly<Record<string, readonly string[]>>;
  /** Upper bounds of a histogram's buckets. */
  buckets?: readonly number[];
  /** Value before the first is set; NaN where 0 would be a lie. Only without labels. */
  initially?: number;
}

const define = <const Table extends Record<string, MetricEntry>>(table: Table) => table;

export const METRICS = define({
  assay_run_state: { type: 'gauge', help: 'State of the run: 1 for the one it is in, 0 for the others.', labels: { state: RUN_STATE_NAMES } },
  assay_run_start_timestamp_seconds: { type: 'gauge', help: 'When this start of the run began, in Unix time.', initially: Number.NaN },
  assay_run_progress_ratio: { type: 'gauge', help: 'Share of the work of the requests that is done, 0 to 1, as the progress bar shows it.' },
  assay_run_remaining_seconds: { type: 'gauge', help: 'Estimated time until the last result; NaN while it is unknown.', initially: Number.NaN },
  assay_run_epoch: { type: 'gauge', help: 'Starts of the run, this one included.' },

  assay_requests_planned: { type: 'gauge', help: 'Requests of the run, by kind.', labels: { kind: REQUEST_KINDS } },
  assay_requests: {
    type: 'gauge',
    help: 'Requests by kind and outcome, each counted once; over assay_requests_planned this is the progress.',
    labels: { kind: REQUEST_KINDS, outcome: OUTCOME_NAMES },
  },
  assay_requests_running: { type: 'gauge', help: 'Requests in the engines\' current step.' },
  assay_requests_waiting: { type: 'gauge', help: 'Requests that wait inside the engines.' },
  assay_results_total: { type: 'counter', help: 'Results written by this start, repeated tries included.', labels: { outcome: OUTCOME_NAMES } },
  assay_results_duplicate_total: { type: 'counter', help: 'Final results beyond the first of their request.' },
  assay_results_torn_lines_total: { type: 'counter', help: 'Lines of results that a crash had cut short.' },
  assay_tokens_total: {
    type: 'counter',
    help: 'Tokens of finished shards: of prompts, of those the ones read from the prefix cache, and generated.',
    labels: { direction: ['prompt', 'cached', 'new'] },
  },
  assay_tasks: { type: 'gauge', help: 'Tasks by what has become of them.', labels: { state: ['open', 'scored', 'failed'] } },

  assay_shards: { type: 'gauge', help: 'Shards of this start by state.', labels: { state: SHARD_STATE_NAMES } },
  assay_shard_oldest_age_seconds: { type: 'gauge', help: 'Age of the oldest attempt that is leased or running; 0 without one.' },
  assay_shard_attempts_total: { type: 'counter', help: 'Attempts at shards by how they ended.', labels: { outcome: ATTEMPT_OUTCOMES } },
  assay_shard_duration_seconds: {
    type: 'histogram',
    help: 'Time from the start of an attempt to its last result.',
    buckets: [1, 2, 5, 10, 20, 60, 120, 300, 600, 1800],
  },
  assay_queue_up: { type: 'gauge', help: '1 while the queue\'s Redis answers.' },

  assay_probe_verdict: { type: 'gauge', help: 'Verdict of the latest probe: 1 for that one.', labels: { verdict: VERDICTS } },
  assay_probe_duration_seconds: { type: 'gauge', help: 'Time the latest probe took.', initially: Number.NaN },
  assay_probe_predicted_peak_bytes: { type: 'gauge', help: 'Peak memory of a worker as predicted for the latest probe.', initially: Number.NaN },
  assay_probe_measured_peak_bytes: { type: 'gauge', help: 'Peak memory of a worker as measured by the latest probe.', initially: Number.NaN },
  assay_plan_rung: { type: 'gauge', help: 'How many rungs the plan in force lies below the first one.' },

  assay_workers: { type: 'gauge', help: 'Worker processes by role and state.', labels: { role: ROLES, state: WORKER_STATE_NAMES } },
  assay_worker_last_progress_timestamp_seconds: {
    type: 'gauge',
    help: 'When the engine worker that has been still for longest made progress, in Unix time; NaN while none is at work.',
    initially: Number.NaN,
  },
  assay_worker_restarts_total: { type: 'counter', help: 'Workers started again after an end that was not asked for.', labels: { role: ROLES } },
  assay_worker_peak_bytes: { type: 'gauge', help: 'Highest peak memory among the workers of a role.', labels: { role: ROLES } },
  assay_idle_seconds_total: {
    type: 'counter',
    help: 'Wall time in which no engine worker was computing, by what was waited for.',
    labels: { cause: ['load', 'render', 'queue', 'score'] },
  },
  assay_warnings_total: { type: 'counter', help: 'Warnings given by this start.' },
});

export type MetricName = keyof typeof METRICS;

/** Set once, with the build's own version; the one label whose values are not in the table. */
export const BUILD_INFO = {
  name: 'assay_build_info',
  help: 'Always 1; the labels say which build this is.',
  labels: ['version', 'commit'],
} as const;
