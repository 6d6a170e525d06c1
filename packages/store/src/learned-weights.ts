// Which weights a folder holds, told in milliseconds: by the digests that an engine worker has left in weight-digests.json, or,
// as long as a file is not in there, by the files' own size, time and inode. Nothing is hashed here.
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from './identity.ts';

/** The name that learned-*.json knows these weights by; undefined where there are no files, or one cannot be looked at. */
export async function nameWeights(home: string, folder: string, files: readonly string[]): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  const known = await readDigests(join(home, 'weight-digests.json'));
  try {
    const states = await Promise.all(files.map((file) => describeState(join(folder, file))));
    const digests = states.map((state) => known[state]);
    return digests.every((digest) => digest !== undefined) ? digestOf({ digests }) : digestOf({ states });
  } catch {
    return undefined;
  }
}

/** As the worker writes its keys. */
async function describeState(path: string): Promise<string> {
  const [real, { size, mtimeNs, ino }] = await Promise.all([realpath(path), stat(path, { bigint: true })]);
  return `${real}:${size}:${mtimeNs}:${ino}`;
}

async function readDigests(path: string): Promise<Record<string, unknown>> {
  try {
    const digests: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof digests === 'object' && digests !== null ? digests as Record<string, unknown> : {};
  } catch {
    return {};
  }
}
