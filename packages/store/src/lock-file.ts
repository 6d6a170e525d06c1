// A lock that the kernel frees when its holder dies, kill -9 included. Node has no flock, so SQLite's lock on an empty
// database file stands in for it: nothing is ever written there, and nobody else may open the file (POSIX drops a process's
// locks when it closes any descriptor of the file). The holder's pid lies beside it, for people only.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError } from '@assay/domain';
import { toDiskError } from './disk.ts';

const SQLITE_BUSY = 5;
const PID_READS = 10;
const PID_WAIT_MS = 20;

export interface FileLock {
  path: string;
  release(): void;
}

type LockAttempt = { lock: FileLock } | { lock: undefined; holderPid: number | undefined };

// A lock lives as long as its database object, which a garbage collection would close.
const held = new Map<string, DatabaseSync>();

/** Takes the lock, or throws RUN_BUSY with the holder's pid. */
export async function lockFile(path: string): Promise<FileLock> {
  const attempt = await tryLockFile(path);
  if (attempt.lock) return attempt.lock;
  throw new AssayError('RUN_BUSY', { dir: dirname(path), pid: attempt.holderPid ?? 'unknown' });
}

/** Takes the lock, or says who holds it. */
export async function tryLockFile(path: string): Promise<LockAttempt> {
  const database = openExclusively(path);
  if (database === undefined) return { lock: undefined, holderPid: await readHolderPid(path) };
  held.set(path, database);
  writeFileSync(pidPath(path), `${process.pid}\n`);
  return { lock: { path, release: () => releaseLock(path, database) } };
}

function openExclusively(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA journal_mode=MEMORY; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
    if (existsSync(path)) return database;
    // Its holder has just taken it away with its folder: a lock on a file that is gone keeps nobody out.
    database.close();
    return undefined;
  } catch (error) {
    if (database?.isOpen) database.close();
    if (isBusy(error)) return undefined;
    throw toDiskError(error, dirname(path));
  }
}

function releaseLock(path: string, database: DatabaseSync): void {
  if (!held.delete(path)) return;
  rmSync(pidPath(path), { force: true });
  database.close();
}

/** The holder writes its pid just after it has the lock, so a moment's patience saves a stale number. */
async function readHolderPid(path: string): Promise<number | undefined> {
  for (let read = 0; read < PID_READS; read += 1) {
    const pid = readPid(path);
    if (pid !== undefined && isAlive(pid)) return pid;
    await sleep(PID_WAIT_MS);
  }
  return readPid(path);
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(pidPath(path), 'utf8'), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

function pidPath(path: string): string {
  return `${path}.pid`;
}
