// Which processes are part of this run: this one and all that descend from it.
import { readText } from './read-text.ts';

// Parents of parents end at 1; the bound is against a pid that is reused while it is looked up.
const MAX_DEPTH = 64;

/** `root` stands for the file system's root in tests. A process of another namespace is never ours. */
export function isOwnProcess(pid: number, own = process.pid, root = ''): boolean {
  let current = pid;
  for (let depth = 0; depth < MAX_DEPTH && current > 1; depth += 1) {
    if (current === own) return true;
    current = Number(/^PPid:\s*(\d+)$/m.exec(readText(`${root}/proc/${current}/status`))?.[1] ?? 0);
  }
  return false;
}
