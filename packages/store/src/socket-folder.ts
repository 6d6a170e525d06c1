// A short private folder for the sockets of one run's processes. Those of runs that were killed are swept by the next one: the kernel
// has freed the lock beside them. A process number would not do: another container sees another process behind it.
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLockFile } from './lock-file.ts';

// The kernel's limit is 108 bytes with the final zero.
const MAX_SOCKET_PATH_BYTES = 107;
/** Room for the name of a socket in the folder: vLLM's are UUIDs. */
const MAX_NAME_BYTES = 36;
const SOCKETS_DIR = 'sockets';
const TEMP_PREFIX = 'assay-sockets-';
/** In the folder itself: held as long as its run lives. */
const LOCK = 'lock';

export interface SocketFolder {
  dir: string;
  /** With all that is in it. */
  remove(): void;
}

/**
 * Under ASSAY_HOME/sockets, or under the system's temporary folder where that path would be too long for a socket or cannot be
 * written; mode 700.
 */
export async function makeSocketFolder(home: string): Promise<SocketFolder> {
  const parent = join(home, SOCKETS_DIR);
  const isOurs = canWrite(parent);
  await sweep(parent, () => true);
  await sweep(tmpdir(), (entry) => entry.startsWith(TEMP_PREFIX));
  const short = join(parent, randomBytes(4).toString('hex'));
  const isShort = Buffer.byteLength(short) + 1 + MAX_NAME_BYTES <= MAX_SOCKET_PATH_BYTES;
  const dir = isOurs && isShort ? short : mkdtempSync(join(tmpdir(), TEMP_PREFIX));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const { lock } = await tryLockFile(join(dir, LOCK));
  return {
    dir,
    remove: () => {
      rmSync(dir, { recursive: true, force: true });
      lock?.release();
    },
  };
}

/** On a file system that is read-only, Node tells of a folder that is missing. */
function canWrite(parent: string): boolean {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    accessSync(parent, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Removes folders whose run has ended. A folder without a lock is being made, or is not ours. */
async function sweep(parent: string, select: (entry: string) => boolean): Promise<void> {
  for (const dir of listQuietly(parent).filter(select).map((entry) => join(parent, entry))) {
    if (!listQuietly(dir).includes(LOCK)) continue;
    const { lock } = await tryLockFile(join(dir, LOCK)).catch(() => ({ lock: undefined }));
    if (lock === undefined) continue;
    rmSync(dir, { recursive: true, force: true });
    lock.release();
  }
}

function listQuietly(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
