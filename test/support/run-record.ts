// What a run directory says, for tests: its events as they come, and its results.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatAttempt } from '@assay/domain';
import { parseRequestIndex, type RequestIndex, type Result } from '@assay/protocol';
import {
  buildRunPaths, type EventOf, foldEvents, listAttempts, type LoggedEvent, readEvents, readManifest, readResults, resultsFileName, type ResultLedger, scanResults,
} from '@assay/store';
import type { Started } from './assay-world.ts';
import { sleep } from './wait-until.ts';

const EVENT_MS = 240_000;

export async function listEvents(dir: string): Promise<LoggedEvent[]> {
  return (await readEvents(buildRunPaths(dir).events)).events;
}

/** Resolves with the first event of this type that `select` takes; throws as soon as the run has ended without it. */
export async function waitForEvent<Type extends LoggedEvent['type']>(
  run: Started, dir: string, type: Type, select: (event: EventOf<Type>) => boolean = () => true,
): Promise<EventOf<Type>> {
  const deadline = Date.now() + EVENT_MS;
  for (;;) {
    const isOver = run.isOver();
    const found = (await listEvents(dir)).find((event): event is EventOf<Type> => event.type === type && select(event as EventOf<Type>));
    if (found) return found;
    if (isOver || Date.now() > deadline) throw new Error(`${isOver ? 'the run ended' : 'too long'} without ${type}:\n${run.stderr()}`);
    await sleep(20);
  }
}

/** Resolves when one more shard is done than at the call. */
export async function waitForNextShard(run: Started, dir: string): Promise<void> {
  const known = new Set((await listEvents(dir)).filter(({ type }) => type === 'shard_done').map(nameShard));
  await waitForEvent(run, dir, 'shard_done', (event) => !known.has(nameShard(event)));
}

function nameShard(event: LoggedEvent): string {
  return event.type === 'shard_done' ? formatAttempt(event) : '';
}

interface RunRecord {
  index: RequestIndex;
  ledger: ResultLedger;
  /** Accepted final results by row. */
  results: Result[];
}

export async function readRecord(dir: string): Promise<RunRecord> {
  const paths = buildRunPaths(dir);
  const index = parseRequestIndex(readFileSync(paths.index), paths.index);
  const ledger = await scanResults(dir, { index, history: foldEvents(await listEvents(dir)) });
  return { index, ledger, results: await readResults(dir, ledger, Uint32Array.from({ length: index.count }, (_, row) => row)) };
}

/** Rows that a results file of each epoch holds with a final outcome; a torn line is left out. */
export async function listRowsByEpoch(dir: string): Promise<Map<number, number[]>> {
  const rows = new Map<number, number[]>();
  for (const attempt of await listAttempts(dir)) {
    const text = readFileSync(join(buildRunPaths(dir).resultsDir, resultsFileName(attempt)), 'utf8');
    const found = text.slice(0, text.lastIndexOf('\n') + 1).split('\n').filter(Boolean).map((line) => JSON.parse(line) as Result);
    const final = found.filter(({ outcome }) => outcome !== 'engine_error' && outcome !== 'timed_out').map(({ row }) => row);
    rows.set(attempt.epoch, [...(rows.get(attempt.epoch) ?? []), ...final]);
  }
  return rows;
}

export async function requireManifest(dir: string) {
  const manifest = await readManifest(dir);
  if (!manifest) throw new Error(`${dir} is not sealed`);
  return manifest;
}

/** Pid of the engine worker that was started last, of this replica or of any. */
export async function findEngine(dir: string, worker?: string): Promise<number | undefined> {
  const events = await listEvents(dir);
  const started = events.filter((event): event is EventOf<'worker_started'> => event.type === 'worker_started' && event.role === 'engine');
  return started.findLast((event) => worker === undefined || event.worker === worker)?.pid;
}

/** Files of a run directory that only a start at work may have: a holder's pid, something half written. */
export function listUnfinished(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(pid|tmp)$/.test(name));
}
