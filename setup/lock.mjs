// One set-up at a time per folder: flock(2) on the folder itself, which the kernel frees however its holder ends.
// Node has no flock, but a lock belongs to the open file: Python takes it on a descriptor that this process keeps.
import { spawnSync } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const BUSY = 9;
const TAKE = `import fcntl, sys
try: fcntl.flock(3, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: sys.exit(${BUSY})
`;

/** Waits for the lock on `dir` and returns its descriptor; tells `onWait` once when another set-up holds it. */
export async function lockFolder(python, dir, onWait) {
  mkdirSync(dir, { recursive: true });
  const descriptor = openSync(dir, 'r');
  for (let tries = 0; ; tries += 1) {
    const { status, stderr } = spawnSync(python, ['-I', '-S', '-c', TAKE], { stdio: ['ignore', 'ignore', 'pipe', descriptor] });
    if (status === 0) return descriptor;
    if (status !== BUSY) throw new Error(`cannot lock ${dir}: ${stderr}`);
    if (tries === 0) onWait(dir);
    await sleep(500);
  }
}
