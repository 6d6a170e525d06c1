// How a worker is ended: asked first, then told, then killed with its whole group.
import { signalGroup } from './process-group.ts';

const TERMINATE_MS = 2_000;
const DUMP_MS = 1_000;

/** Resolves with `exited`, at the latest shortly after `graceMs` and the time a SIGTERM is given. */
export async function climbKillLadder<Exit>({ pid, exited, graceMs }: { pid: number; exited: Promise<Exit>; graceMs: number }): Promise<Exit> {
  if (await settlesWithin(exited, graceMs)) return exited;
  signalGroup(pid, 'SIGTERM');
  if (await settlesWithin(exited, TERMINATE_MS)) return exited;
  signalGroup(pid, 'SIGKILL');
  return exited;
}

/** SIGABRT makes Python's fault handler write every thread's stack, which tells where a worker hung. */
export async function dumpStacksAndKill(pid: number, ended: Promise<unknown>): Promise<void> {
  try {
    process.kill(pid, 'SIGABRT');
  } catch {
    return; // already gone
  }
  await settlesWithin(ended, DUMP_MS);
  signalGroup(pid, 'SIGKILL');
}

async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  return Promise.race([promise.then(() => true), timeout]).finally(() => clearTimeout(timer));
}
