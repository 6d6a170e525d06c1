// Which requests are open: those a worker has now, with its name and how long it has had them, and how many wait.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAttempt } from '@assay/domain';
import { requestShapeAt } from '@assay/protocol';
import { type EventOf, type LoggedEvent, orderFile, type ResultLedger, type RunHistory } from '@assay/store';

interface OpenRequest {
  row: number;
  task: string;
  ordinal: number;
  repeat: number;
  kind: string;
  /** Of its latest try, where one ended open. */
  outcome: string | null;
  tries: number;
  worker: string;
  shard: string;
  /** Since its shard was given to the worker. */
  ageSeconds: number;
}

export interface OpenRequests {
  total: number;
  /** With a worker now, oldest first, at most `limit`. */
  running: OpenRequest[];
  waiting: number;
}

interface OpenQuestion {
  dir: string;
  events: readonly LoggedEvent[];
  history: RunHistory;
  ledger: ResultLedger;
  taskNames: readonly string[];
  nowMs: number;
  limit: number;
}

export function listOpenRequests(question: OpenQuestion): OpenRequests {
  const { ledger, limit } = question;
  const total = ledger.index.count - ledger.finalCount;
  const running = total === 0 ? [] : listLeasedShards(question).flatMap((shard) => listRows(question, shard));
  running.sort((a, b) => b.ageSeconds - a.ageSeconds || a.row - b.row);
  return { total, running: running.slice(0, limit), waiting: total - running.length };
}

/** Shards of this epoch that were started and have neither ended, failed nor been withdrawn. */
export function listLeasedShards({ events, history }: Pick<OpenQuestion, 'events' | 'history'>): EventOf<'shard_started'>[] {
  const leased = new Map<string, EventOf<'shard_started'>>();
  for (const event of events) {
    if (event.type === 'shard_started' && event.epoch === history.epoch) leased.set(formatAttempt(event), event);
    if (event.type === 'shard_done' || event.type === 'attempt_failed' || event.type === 'shard_fenced') leased.delete(formatAttempt(event));
  }
  return [...leased.values()];
}

function listRows({ dir, ledger, taskNames, nowMs }: OpenQuestion, shard: EventOf<'shard_started'>): OpenRequest[] {
  const rows = readOrder(join(dir, orderFile(shard.epoch)), shard.begin, shard.end);
  const ageSeconds = Math.max(0, (nowMs - Date.parse(shard.at)) / 1000);
  return rows.filter((row) => !ledger.isFinal(row)).map((row) => ({
    row,
    task: taskNames[ledger.taskOf(row)] ?? String(ledger.taskOf(row)),
    ordinal: ledger.index.columns.ordinal[row] as number,
    repeat: ledger.index.columns.repeat[row] as number,
    kind: requestShapeAt(ledger.index, row).kind,
    outcome: ledger.outcomeOf(row) ?? null,
    tries: ledger.tries(row),
    worker: shard.worker,
    shard: shard.shard,
    ageSeconds,
  }));
}

const ROW_BYTES = 4;

function readOrder(path: string, begin: number, end: number): number[] {
  const bytes = readFileSync(path).subarray(begin * ROW_BYTES, end * ROW_BYTES);
  return Array.from({ length: bytes.length / ROW_BYTES }, (_, place) => bytes.readUInt32LE(place * ROW_BYTES));
}
