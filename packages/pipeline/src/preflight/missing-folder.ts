// Says what is wrong with a path that names no folder: which part is missing, and what lies beside it under a similar name.
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findNearPaths } from '@assay/domain';

export async function describeMissingFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path.endsWith('.gguf') ? 'GGUF weights are not loaded by this engine; convert them to safetensors' : 'it is a file, a folder is needed';
  if (found) return 'it is no folder';
  const parent = await findExistingParent(path);
  const missing = join(parent.folder, parent.missing);
  const siblings = await readdir(parent.folder, { withFileTypes: true }).catch(() => []);
  const folders = siblings.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map((entry) => entry.name);
  const near = findNearPaths(parent.missing, folders);
  if (near.length > 0) return `no such folder; beside it there is ${near.map((name) => join(parent.folder, name)).join(', ')}`;
  return missing === path ? 'no such folder' : `no such folder: ${missing} is missing`;
}

/** The deepest folder of a path that is there, and the name that is missing in it. */
async function findExistingParent(path: string): Promise<{ folder: string; missing: string }> {
  const folder = dirname(path);
  const isThere = await stat(folder).then((found) => found.isDirectory(), () => false);
  if (isThere || folder === path) return { folder, missing: basename(path) };
  return findExistingParent(folder);
}
