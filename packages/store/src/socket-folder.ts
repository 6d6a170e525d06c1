// A short private folder for the sockets of one run's processes. Those of runs that were killed are swept by the next one.
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseProcessStat } from '@assay/domain';

// The kernel's limit is 108 bytes with the final zero.
const MAX_SOCKET_PATH_BYTES = 107;
/** Room for the name of a socket in the folder: vLLM's are UUIDs. */
const MAX_NAME_BYTES = 36;
const SOCKETS_DIR = 'sockets';
const OWNER = 'owner';
const TEMP_PREFIX = 'assay-sockets-';

export interface SocketFolder {
  dir: string;
  /** With all that is in it. */
  remove(): void;
}

/**
 * Under ASSAY_HOME/sockets, or under the system's temporary folder where that path would be too long for a socket or cannot be
 * written; mode 700.
 */
export function makeSocketFolder(home: string): SocketFolder {
  const parent = join(home, SOCKETS_DIR);
  const isOurs = canWrite(parent);
  sweep(parent, () => true);
  sweep(tmpdir(), (entry) => entry.startsWith(TEMP_PREFIX));
  const short = join(parent, randomBytes(4).toString('hex'));
  const isShort = Buffer.byteLength(short) + 1 + MAX_NAME_BYTES <= MAX_SOCKET_PATH_BYTES;
  const dir = isOurs && isShort ? short : mkdtempSync(join(tmpdir(), TEMP_PREFIX));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  writeFileSync(join(dir, OWNER), nameProcess(process.pid) ?? '');
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
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

/** Removes folders whose owner has ended. A folder without an owner's name is being made, or is not ours. */
function sweep(parent: string, select: (entry: string) => boolean): void {
  for (const entry of listQuietly(parent).filter(select)) {
    const owner = readQuietly(join(parent, entry, OWNER));
    if (owner && owner !== nameProcess(Number.parseInt(owner, 10))) {
      rmSync(join(parent, entry), { recursive: true, force: true });
    }
  }
}

/** "pid start-time", since the kernel gives a pid out again; undefined when there is no such process. */
function nameProcess(pid: number): string | undefined {
  const stat = readQuietly(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : `${pid} ${parseProcessStat(stat).startTicks}`;
}

function listQuietly(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function readQuietly(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
