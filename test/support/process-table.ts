// Which processes live, from /proc, and how to end one. A zombie has ended; it only waits for its parent to look.
import { readdirSync, readFileSync } from 'node:fs';
import { parseProcessStat } from '@assay/domain';

export function isAlive(pid: number): boolean {
  const stat = readQuietly(`/proc/${pid}/stat`);
  return stat !== '' && !parseProcessStat(stat).isZombie;
}

/** Living children of a process whose command line holds `mark`. */
export function findChildren(parent: number, mark: string): number[] {
  return listPids().filter((pid) => parseProcessStat(readQuietly(`/proc/${pid}/stat`)).parent === parent && isAlive(pid) && readQuietly(`/proc/${pid}/cmdline`).includes(mark));
}

/** Pids of living processes whose command line or environment holds `mark`. */
export function findProcesses(mark: string): number[] {
  return listPids()
    .filter((pid) => pid !== process.pid && isAlive(pid) && [`cmdline`, `environ`].some((file) => readQuietly(`/proc/${pid}/${file}`).includes(mark)));
}

/** False where it has ended already. */
export function killQuietly(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function listPids(): number[] {
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number);
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
