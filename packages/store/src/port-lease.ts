// Ranges of TCP ports, shared out among the runs of this machine: one locked file a range, which the kernel frees when its holder
// dies. No two holders have a port in common, and every port was free when its range was given.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { tryLockFile } from './lock-file.ts';

const LEASES_DIR = 'ports';
// Below the ports that the kernel gives to outgoing connections (32768 and up, where nobody has changed that).
const DEFAULT_FIRST_PORT = 20_000;
const DEFAULT_END_PORT = 32_000;
const END_PORT = 65_536;
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
  /** Where range 0 begins, and ranges then go up to the last port there is. */
  firstPort?: number | undefined;
}

/** The first range from `place` on that nobody holds and nobody uses; undefined where there is none left. */
export async function leasePortRange(home: string, { place, firstPort }: RangeRequest): Promise<PortRange | undefined> {
  const folder = join(home, LEASES_DIR);
  await mkdir(folder, { recursive: true }).catch(() => undefined);
  const count = countRanges(firstPort);
  for (let step = 0; step < count; step += 1) {
    const first = (firstPort ?? DEFAULT_FIRST_PORT) + ((place + step) % count) * PORTS_PER_RANGE;
    const release = await hold(join(folder, `${first}.lock`));
    if (release === undefined) continue;
    if (await areFree(first)) return { first, place: place + step, release };
    release();
  }
  return undefined;
}

/** How many whole ranges there are: by default below the outgoing ports, from a port that was asked for up to the last. */
export function countRanges(firstPort?: number): number {
  const ports = firstPort === undefined ? DEFAULT_END_PORT - DEFAULT_FIRST_PORT : END_PORT - firstPort;
  return Math.max(0, Math.floor(ports / PORTS_PER_RANGE));
}

/** A port that the kernel draws, free now and held for nobody: where there is no range left. */
export async function drawPort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
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
