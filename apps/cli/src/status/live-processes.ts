// The processes of a run that are alive now, from what its events say was started, and the state it is in by that.
import { existsSync, readFileSync } from 'node:fs';
import { isWorking, parseProcessStat } from '@assay/domain';
import type { EventOf, LoggedEvent, RunDirectory, RunHistory } from '@assay/store';

export interface LiveProcess {
  role: string;
  name: string;
  pid: number;
}

/** The run's own process first, then redis, harness and engine workers. Those that have ended are left out. */
export function listLiveProcesses(events: readonly LoggedEvent[], history: RunHistory): LiveProcess[] {
  const start = events.findLast((event): event is EventOf<'epoch_started'> => event.type === 'epoch_started');
  const workers = [...history.workers.values()].filter(({ started, ended }) => started.epoch === history.epoch && ended === undefined);
  const listed = [
    ...(start ? [{ role: 'run', name: 'run', pid: start.pid, at: start.at }] : []),
    ...workers.map(({ started }) => ({ role: started.role, name: started.worker, pid: started.pid, at: started.at })),
  ];
  return listed.filter(({ pid, at }) => isAlive(pid, Date.parse(at))).map(({ role, name, pid }) => ({ role, name, pid }));
}

/** A process that was killed could not write down that it ended: a run that speaks of work without a process is interrupted. */
export function readStateNow({ paths }: RunDirectory, { state, epoch }: RunHistory, processes: readonly LiveProcess[]): string {
  // The manifest decides: a kill just after it was written leaves no word of it, and without it the run is to be sealed again.
  if (existsSync(paths.manifest)) return 'sealed';
  if (state === 'sealed') return 'interrupted';
  return epoch > 0 && isWorking(state) && !isAtWork(processes) ? 'interrupted' : state;
}

export function isAtWork(processes: readonly LiveProcess[]): boolean {
  return processes.some(({ role }) => role === 'run');
}

/** A pid may have been given to another process since; that one is younger than the event that names it. */
function isAlive(pid: number, namedAtMs: number): boolean {
  try {
    const { isZombie, startTicks } = parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return !isZombie && startedAtMs(startTicks) <= namedAtMs + CLOCK_SLACK_MS;
  } catch {
    return false;
  }
}

const CLOCK_SLACK_MS = 2000;
const TICKS_PER_SECOND = 100; // what Linux shows to user space, on every machine

function startedAtMs(ticks: number): number {
  const bootSeconds = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? 0);
  return (bootSeconds + ticks / TICKS_PER_SECOND) * 1000;
}
