// Whether a folder can be written and has room, asked before anything starts, and the words for it when it turns out later.
import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssayError, describeFileError, formatBytes, MIB } from '@assay/domain';

/** Below this a run is not started, whatever its size: logs, events and the manifest need it. */
export const MIN_FREE_BYTES = 64 * MIB;

// What one request takes on disk: its columns and document going in, its line coming back. Bytes, generous.
const BYTES_PER_REQUEST = 1024;
const BYTES_PER_PROMPT_TOKEN = 12;
const BYTES_PER_NEW_TOKEN = 16;

/** Bytes that this user may still write to the file system of `dir`, or of the nearest folder above that exists. */
export async function freeBytes(dir: string): Promise<number> {
  try {
    const stats = await statfs(dir);
    return stats.bavail * stats.bsize;
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(dir) === dir) throw toDiskError(error, dir);
    return freeBytes(dirname(dir));
  }
}

/** Makes the folder where it is missing and writes a file in it. Throws OUTPUT_NOT_WRITABLE or DISK_FULL. */
export async function checkWritable(dir: string): Promise<void> {
  const path = join(dir, `.assay-${randomBytes(6).toString('hex')}.tmp`);
  try {
    await mkdir(dir, { recursive: true });
    const file = await open(path, 'wx');
    try {
      await file.write('x');
      await file.sync();
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
  } catch (error) {
    throw toDiskError(error, dir);
  }
}

/** Throws DISK_FULL where less than `neededBytes` (and a reserve) is free. */
export async function checkSpace(dir: string, neededBytes = 0): Promise<void> {
  const free = await freeBytes(dir);
  const needed = neededBytes + MIN_FREE_BYTES;
  if (free < needed) throw new AssayError('DISK_FULL', { dir, free: formatBytes(free), needed: formatBytes(needed) });
}

/** An upper estimate of what a run writes. */
export function estimateRunBytes(run: { requests: number; promptTokens: number; newTokens: number }): number {
  return run.requests * BYTES_PER_REQUEST + run.promptTokens * BYTES_PER_PROMPT_TOKEN + run.newTokens * BYTES_PER_NEW_TOKEN;
}

/** Turns an error of the file system into DISK_FULL or OUTPUT_NOT_WRITABLE; anything else comes back as it is. */
export function toDiskError(error: unknown, dir: string): unknown {
  return describeFileError(error, dir) ?? error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
