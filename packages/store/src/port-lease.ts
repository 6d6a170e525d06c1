// Ranges of TCP ports, shared out among the runs of this machine: one locked file a range, which the kernel frees when its holder
// dies. No two holders have a port in common, and every port was free when its range was given.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { tryLockFile } from './lock-file.ts';

const LEASES_DIR = 'ports';
// Below the ports that the kernel gives to outgoing connections (32768 and up, where nobody has changed that).
const DEFAULT_FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
/** An engine binds one, and looks upwards from it where that has been taken meanwhile. */
export const PORTS_PER_RANGE = 16;

export interface PortRange {
  first: number;
  /** Its number; a later range has a greater one. */
  place: number;
  release(): void;
}

interface RangeRequest {
  /** The number of the first range to look at. */
  place: number;
  /** Where range 0 begins. */
  firstPort?: number;
}

/** The first range from `place` on that nobody holds and nobody uses; undefined where there is none left. */
export async function leasePortRange(home: string, { place, firstPort = DEFAULT_FIRST_PORT }: RangeRequest): Promise<PortRange | undefined> {
  const folder = join(home, LEASES_DIR);
  await mkdir(folder, { recursive: true }).catch(() => undefined);
  const count = countRanges(firstPort);
  for (let step = 0; step < count; step += 1) {
    const first = firstPort + ((place + step) % count) * PORTS_PER_RANGE;
    const release = await hold(join(folder, `${first}.lock`));
    if (release === undefined) continue;
    if (await areFree(first)) return { first, place: place + step, release };
    release();
  }
  return undefined;
}

/** How many ranges there are from this port on: at least one. */
export function countRanges(firstPort = DEFAULT_FIRST_PORT): number {
  return Math.max(1, Math.floor((LAST_PORT - firstPort) / PORTS_PER_RANGE));
}

/** undefined where another holds it. A home that cannot be written keeps runs from agreeing, not from running. */
async function hold(path: string): Promise<(() => void) | undefined> {
  const attempt = await tryLockFile(path).catch(() => ({ lock: { release: () => undefined } }));
  return attempt.lock && (() => attempt.lock?.release());
}

async function areFree(first: number): Promise<boolean> {
  for (let port = first; port < first + PORTS_PER_RANGE; port += 1) {
    if (!(await isFree(port))) return false;
  }
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
