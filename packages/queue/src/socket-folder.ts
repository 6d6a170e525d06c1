// A short private folder for one Redis server: its socket and its data. Those of processes that were killed are swept.
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseProcessStat } from '@assay/domain';

// The kernel's limit is 108 bytes with the final zero.
const MAX_SOCKET_PATH_BYTES = 107;
const SOCKET = 'redis.sock';
const OWNER = 'owner';
const TEMP_PREFIX = 'assay-redis-';

export interface SocketFolder {
  dir: string;
  socket: string;
  data: string;
}

/** Under ASSAY_HOME/redis, or under the system's temporary folder where that path would be too long for a socket or cannot be written. */
export function makeSocketFolder(home: string): SocketFolder {
  const parent = join(home, 'redis');
  const isOurs = canWrite(parent);
  sweep(parent, () => true);
  sweep(tmpdir(), (entry) => entry.startsWith(TEMP_PREFIX));
  const short = join(parent, randomBytes(4).toString('hex'));
  const isShort = Buffer.byteLength(join(short, SOCKET)) <= MAX_SOCKET_PATH_BYTES;
  const dir = isOurs && isShort ? short : mkdtempSync(join(tmpdir(), TEMP_PREFIX));
  const data = join(dir, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  writeFileSync(join(dir, OWNER), nameProcess(process.pid) ?? '');
  return { dir, socket: join(dir, SOCKET), data };
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

export function removeSocketFolder({ dir }: SocketFolder): void {
  rmSync(dir, { recursive: true, force: true });
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
