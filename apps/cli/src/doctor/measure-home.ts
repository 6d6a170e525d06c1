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

/** What is there, then what is not. Folders that one name of the table stands for (`python-*`) are shown each, files (`learned-*`) as one. */
export async function measureHome(home: string): Promise<HomeEntry[]> {
  const entries = (await readdir(home, { withFileTypes: true }).catch(() => [])).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const present = await Promise.all(entries.map(async (entry) => ({
    name: entry.isDirectory() ? entry.name : patternOf(entry.name) ?? entry.name,
    purpose: explainHomeEntry(entry.name) ?? 'not known to this version',
    bytes: await measure(join(home, entry.name)),
  })));
  const absent = Object.entries(HOME_ENTRIES).filter(([, purpose]) => !present.some((entry) => entry.purpose === purpose));
  return [...sumByName(present), ...absent.map(([name, purpose]) => ({ name, purpose, bytes: null }))];
}

function patternOf(name: string): string | undefined {
  return Object.keys(HOME_ENTRIES).find((known) => known.endsWith('*') && name.startsWith(known.slice(0, -1)));
}

function sumByName(entries: readonly (HomeEntry & { bytes: number })[]): HomeEntry[] {
  const byName = new Map<string, HomeEntry & { bytes: number }>();
  for (const entry of entries) byName.set(entry.name, { ...entry, bytes: (byName.get(entry.name)?.bytes ?? 0) + entry.bytes });
  return [...byName.values()];
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
