// Which processes live, from /proc. A zombie has ended; it only waits for its parent to look.
import { readdirSync, readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

/** Living children of a process whose command line holds `mark`. */
export function findChildren(parent: number, mark: string): number[] {
  return listPids().filter((pid) => readParent(pid) === parent && isAlive(pid) && readQuietly(`/proc/${pid}/cmdline`).includes(mark));
}

/** Pids of living processes whose command line or environment holds `mark`. */
export function findProcesses(mark: string): number[] {
  return listPids()
    .filter((pid) => pid !== process.pid && isAlive(pid) && [`cmdline`, `environ`].some((file) => readQuietly(`/proc/${pid}/${file}`).includes(mark)));
}

function listPids(): number[] {
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number);
}

function readParent(pid: number): number {
  const stat = readQuietly(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
