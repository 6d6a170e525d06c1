// What lies in ASSAY_HOME, with sizes. Links are counted as links, not followed.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { explainHomeEntry, HOME_ENTRIES } from '@assay/store';

export interface HomeEntry {
  name: string;
  purpose: string;
  /** null: not there. */
  bytes: number | null;
}

/** What is there, then what is not: a name of the table may stand for several (`python-*`). */
export async function measureHome(home: string): Promise<HomeEntry[]> {
  const names: string[] = (await readdir(home).catch(() => [])).sort();
  const present = await Promise.all(names.map(async (name) => (
    { name, purpose: explainHomeEntry(name) ?? 'not known to this version', bytes: await measure(join(home, name)) }
  )));
  const absent = Object.entries(HOME_ENTRIES).filter(([, purpose]) => !present.some((entry) => entry.purpose === purpose));
  return [...present, ...absent.map(([name, purpose]) => ({ name, purpose, bytes: null }))];
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
