// What a run is doing, from its directory alone: works on a run that is alive, finished or dead, and disturbs none.
import type { Rendered } from '@assay/protocol';
import { foldEvents, type LoggedEvent, readEvents, readRunJson, readStoredResults, type ResultLedger, type RunDirectory, type RunHistory } from '@assay/store';
import { isAtWork, type LiveProcess, listLiveProcesses, readStateNow } from './live-processes.ts';
import { listLeasedShards, listOpenRequests, type OpenRequests } from './open-requests.ts';

interface TaskProgress {
  task: string;
  requests: number;
  final: number;
  scored: boolean;
}

export interface RunStatus {
  run: string;
  dir: string;
  model: string;
  /** interrupted where it speaks of work and no process is there to do it. */
  state: string;
  /** It was told to end: what is in the engines finishes, nothing new starts. */
  draining: boolean;
  /** Its process is there. */
  alive: boolean;
  /** Why the latest start ended early, where it did. */
  ended: { code: string; message: string } | null;
  epoch: number;
  createdAt: string;
  lastEventAt: string | null;
  processes: LiveProcess[];
  requests: { total: number; final: number; duplicates: number } | null;
  outcomes: Record<string, number>;
  tasks: TaskProgress[];
  shards: { total: number; done: number; running: number; failedAttempts: number };
  open: OpenRequests | null;
  rungsTaken: number;
  warnings: string[];
}

/** Requests listed by name; a run may have a million open ones. */
const MOST_OPEN_REQUESTS = 100;

const KILLED = { code: 'INTERRUPTED', message: 'its process is gone without having said why: it was killed, or the machine went down' };
const UNSEALED = { code: 'INTERRUPTED', message: 'its manifest.json was taken away' };

export async function describeRun(run: RunDirectory, now: Date): Promise<RunStatus> {
  const { events } = await readEvents(run.paths.events);
  const history = foldEvents(events);
  const rendered = (await readRunJson(run.paths.rendered)) as Rendered | undefined;
  const taskNames = rendered?.tasks.map(({ task }) => task) ?? [];
  const ledger = await readStoredResults(run, history);
  const processes = listLiveProcesses(events, history);
  const state = readStateNow(run, history, processes);
  const alive = isAtWork(processes);
  return {
    run: run.header.id,
    dir: run.dir,
    model: run.header.model,
    state,
    draining: state === 'running' && events.some((event) => event.type === 'drain_started' && event.epoch === history.epoch),
    alive,
    ended: explainEnd(state, events, history),
    epoch: history.epoch,
    createdAt: run.header.createdAt,
    lastEventAt: events.at(-1)?.at ?? null,
    processes,
    requests: ledger ? { total: ledger.index.count, final: ledger.finalCount, duplicates: ledger.duplicates } : null,
    outcomes: ledger ? Object.fromEntries(Object.entries(ledger.countByOutcome()).filter(([, count]) => count > 0)) : {},
    tasks: ledger ? describeTasks(ledger, taskNames, events) : [],
    shards: { ...countShards(events, history), ...(alive ? {} : { running: 0 }) },
    open: ledger && history.orders.length > 0
      ? listOpenRequests({ dir: run.dir, events, history, ledger, taskNames, nowMs: now.getTime(), limit: MOST_OPEN_REQUESTS }) : null,
    rungsTaken: history.rungs.length,
    warnings: history.warnings.map(({ message }) => message),
  };
}

/** A run that is interrupted without having written that down was killed, or has lost its manifest. */
function explainEnd(state: string, events: readonly LoggedEvent[], history: RunHistory): RunStatus['ended'] {
  if (state !== 'interrupted' || history.state === 'interrupted') return findEnd(events, history);
  return history.state === 'sealed' ? UNSEALED : KILLED;
}

function findEnd(events: readonly LoggedEvent[], { epoch }: RunHistory): RunStatus['ended'] {
  const end = events.findLast((event) => event.type === 'failed' || event.type === 'interrupted');
  if (end === undefined || end.epoch !== epoch) return null;
  return end.type === 'failed' ? { code: end.code, message: end.message } : { code: 'INTERRUPTED', message: end.reason };
}

function describeTasks(ledger: ResultLedger, names: readonly string[], events: readonly LoggedEvent[]): TaskProgress[] {
  const scored = new Set(events.flatMap((event) => (event.type === 'task_scored' ? [event.task] : [])));
  return names.map((task, number) => ({ task, ...ledger.progressOfTask(number), scored: scored.has(task) }));
}

function countShards(events: readonly LoggedEvent[], history: RunHistory): RunStatus['shards'] {
  const order = history.orders.findLast(({ epoch }) => epoch === history.epoch);
  return {
    total: order?.shards ?? 0,
    done: new Set(history.shards.filter(({ epoch }) => epoch === history.epoch).map(({ shard }) => shard)).size,
    running: listLeasedShards({ events, history }).length,
    failedAttempts: history.failedAttempts,
  };
}
