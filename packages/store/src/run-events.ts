// Everything that may be said in events.ndjson: one line an event, appended and never changed. This file, not Redis, says
// which epoch and attempt comes next. docs/run-directory.md lists the events.
import { RUN_STATES, type RunState } from '@assay/domain';
import { failureSchema } from '@assay/protocol';
import { z } from 'zod';

const count = z.int().nonnegative();
const seconds = z.number().nonnegative();
const epoch = z.int().positive();
const attemptKey = { epoch, shard: z.string(), attempt: z.int().positive() };
const mapping = z.record(z.string(), z.unknown());
const state = z.enum(Object.keys(RUN_STATES) as [RunState, ...RunState[]]);

/** Fields of each type, beside `at` (written by the log), and whether the event must be on disk before the run goes on. */
const EVENTS = {
  epoch_started: { durable: true, fields: { epoch, pid: count, version: z.string(), commit: z.union([z.string(), z.null()]), command: z.array(z.string()) } },
  state_changed: { durable: false, fields: { epoch, machine: z.literal('run'), from: state, to: state, reason: z.string().optional() } },
  rendered: { durable: false, fields: { epoch, requests: count, tokens: count, digest: z.string(), seconds } },
  /** `expectedNewTokens`: by task, where earlier runs' answers stood for budgets in the order. */
  order_written: {
    durable: true,
    fields: { epoch, file: z.string(), rule: z.string(), digest: z.string(), rows: count, shards: count, expectedNewTokens: z.record(z.string(), count).optional() },
  },
  plan_chosen: { durable: false, fields: { epoch, rung: count, plan: mapping } },
  probe_finished: {
    durable: false,
    fields: { epoch, rung: count, worker: z.string(), verdict: z.enum(['fits', 'oom', 'failed']), seconds, peakBytes: count, predictedBytes: count.optional() },
  },
  /** `shard` where it happened in mid-run: its later results came from a smaller plan. */
  rung_taken: { durable: true, fields: { epoch, from: count, to: count, why: z.string(), shard: z.string().optional() } },
  worker_started: { durable: false, fields: { epoch, worker: z.string(), role: z.enum(['engine', 'harness', 'redis']), pid: count } },
  worker_ended: {
    durable: false,
    fields: {
      epoch, worker: z.string(), pid: count, exitCode: z.union([z.int(), z.null()]), signal: z.union([z.string(), z.null()]), peakBytes: count.optional(),
      problem: z.string().optional(), tail: z.array(z.string()).optional(),
    },
  },
  shard_started: { durable: true, fields: { ...attemptKey, worker: z.string(), begin: count, end: count } },
  /** The attempt failed or was withdrawn: only the first `bytes` of its results file count. */
  shard_fenced: { durable: true, fields: { ...attemptKey, bytes: count, reason: z.string() } },
  shard_done: {
    durable: true,
    fields: {
      ...attemptKey, requests: count, seconds, promptTokens: count, cachedTokens: count, newTokens: count, steps: count,
      batch: z.strictObject({ median: z.number().nonnegative(), max: count }), peakBytes: count,
    },
  },
  attempt_failed: { durable: true, fields: { ...attemptKey, worker: z.string(), failure: failureSchema } },
  drain_started: { durable: false, fields: { epoch } },
  task_scored: { durable: false, fields: { epoch, task: z.string(), documents: count, scoredDocuments: count, seconds } },
  /** A stage's time in one epoch. The time a run is interrupted belongs to no stage. */
  stage_timed: { durable: false, fields: { epoch, stage: z.string(), seconds } },
  /** Unix seconds of the first engine step and the last result of this epoch. */
  request_phase: { durable: true, fields: { epoch, firstStepAt: seconds, lastResultAt: seconds } },
  /** Wall time in which no engine worker was computing, and why. */
  idle: { durable: false, fields: { epoch, cause: z.string(), seconds } },
  warning: { durable: false, fields: { epoch: count, code: z.string(), message: z.string() } },
  waived: { durable: true, fields: { epoch, what: z.string(), details: mapping.optional() } },
  interrupted: { durable: true, fields: { epoch, reason: z.string() } },
  failed: { durable: true, fields: { epoch, code: z.string(), message: z.string() } },
  sealed: { durable: true, fields: { epoch, digest: z.string() } },
} as const;

type EventType = keyof typeof EVENTS;

type Fields = { [Type in EventType]: z.output<z.ZodObject<(typeof EVENTS)[Type]['fields']>> };
type Absent<Value> = { [Key in keyof Value]: Value[Key] };

/** An event as the run says it. */
export type RunEvent = { [Type in EventType]: { type: Type } & Absent<Fields[Type]> }[EventType];
/** An event as it stands in the file: with the time (ISO 8601, UTC) at which it was written. */
export type LoggedEvent = RunEvent & { at: string };
export type EventOf<Type extends EventType> = Extract<LoggedEvent, { type: Type }>;

const variants = Object.entries(EVENTS).map(([type, { fields }]) => z.strictObject({ at: z.iso.datetime(), type: z.literal(type), ...fields }));

export const loggedEventSchema = z.discriminatedUnion('type', variants as unknown as [z.ZodObject<{ type: z.ZodLiteral<string> }>])
  .transform((event) => event as unknown as LoggedEvent);

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

export function isDurable(type: EventType): boolean {
  return EVENTS[type].durable;
}
