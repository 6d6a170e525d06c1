// Files that are there whole or not at all: written beside, synced, renamed in, and the rename itself synced.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { toDiskError } from './disk.ts';

/** Replaces `path` by `data`. After a crash at any point the old file or the new one is there. */
export async function writeFileAtomic(path: string, data: string | Uint8Array): Promise<void> {
  const dir = dirname(path);
  const temporary = join(dir, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(dir);
  } catch (error) {
    await rm(temporary, { force: true });
    throw toDiskError(error, dir);
  }
}

/** Makes names that were created in or renamed into a folder durable. */
export async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
