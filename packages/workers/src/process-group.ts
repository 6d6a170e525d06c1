// Ends what a program left behind. Its group's number is its pid, which the kernel keeps while any member lives.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseProcessStat } from '@assay/domain';

const POLL_MS = 10;
/** A process in an uninterruptible wait of a device ends only when the device answers. */
const KILL_MS = 2_000;

/** Signals every process of the group; false when none is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends the rest of a group whose leader has ended. The worker's own guardian comes first, since it also finds descendants
 * that left the group; whatever it has not ended after `graceMs` is killed here.
 */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (await emptiesWithin(pid, graceMs)) return;
  signalGroup(pid, 'SIGKILL');
  await emptiesWithin(pid, KILL_MS);
}

async function emptiesWithin(group: number, timeoutMs: number): Promise<boolean> {
  for (let waitedMs = 0; hasLivingMember(group); waitedMs += POLL_MS) {
    if (waitedMs >= timeoutMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Zombies do not count: where nobody reaps orphans they stay for ever. */
function hasLivingMember(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  return readdirSync('/proc').some((entry) => /^\d+$/.test(entry) && isLivingMember(entry, group));
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return stat.group === group && !stat.isZombie;
  } catch {
    return false;
  }
}
