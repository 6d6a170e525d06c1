// Leases of devices between runs on this machine: one locked file a device, which the kernel frees when its holder dies.
// A device is never leased twice at a time.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toDiskError } from './disk.ts';
import { type FileLock, tryLockFile } from './lock-file.ts';

const LEASES_DIR = 'devices';

interface BusyDevice {
  id: string;
  /** Of the process that holds the lease; undefined where it ended just now or has not said it yet. */
  pid: number | undefined;
}

interface DeviceLease {
  /** Ids that are this process's until `release`, in the order asked for. */
  leased: string[];
  /** Ids that another run, or another one in this process, holds. */
  busy: BusyDevice[];
  /** Gives all back; harmless when repeated. */
  release(): void;
}

/** Takes what is free of `ids` and waits for nothing. Throws where the home folder cannot be written. */
export async function leaseDevices(home: string, ids: readonly string[]): Promise<DeviceLease> {
  const locks: FileLock[] = [];
  const release = (): void => locks.splice(0).forEach((lock) => lock.release());
  const leased: string[] = [];
  const busy: BusyDevice[] = [];
  if (ids.length === 0) return { leased, busy, release };
  const folder = join(home, LEASES_DIR);
  try {
    await mkdir(folder, { recursive: true }).catch((error: unknown) => { throw toDiskError(error, home); });
    for (const id of new Set(ids)) {
      const attempt = await tryLockFile(join(folder, `${nameFile(id)}.lock`));
      if (attempt.lock) {
        locks.push(attempt.lock);
        leased.push(id);
      } else busy.push({ id, pid: attempt.holderPid });
    }
  } catch (thrown) {
    release();
    throw thrown;
  }
  return { leased, busy, release };
}

/** Older drivers name slices with slashes: MIG-GPU-…/7/0. */
function nameFile(id: string): string {
  return encodeURIComponent(id).replace(/^\./, '%2E');
}
