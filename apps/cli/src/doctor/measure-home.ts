// What lies in ASSAY_HOME, with sizes. Links are counted as links, not followed.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HOME_ENTRIES } from '@assay/store';

export interface HomeEntry {
  name: string;
  purpose: string;
  /** null: not there. */
  bytes: number | null;
}

/** Every entry of the documented table, then whatever else is there. */
export async function measureHome(home: string): Promise<HomeEntry[]> {
  const names: string[] = await readdir(home).catch(() => []);
  const known: Record<string, string> = HOME_ENTRIES;
  const others = names.filter((name) => !Object.hasOwn(known, name)).sort();
  const all = [...Object.entries(known), ...others.map((name) => [name, 'not known to this version'] as const)];
  return Promise.all(all.map(async ([name, purpose]) => ({ name, purpose, bytes: names.includes(name) ? await measure(join(home, name)) : null })));
}

async function measure(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return 0;
  if (!found.isDirectory()) return found.size;
  const names = await readdir(path).catch(() => []);
  let bytes = 0;
  for (const name of names) bytes += await measure(join(path, name));
  return bytes;
}
