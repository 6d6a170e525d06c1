// Refuses unknown keys, at the top and inside mappings, with the nearest known key or the level it belongs to.
// The one rule of spelling: in files a key is written exactly, with underscores.
import { AssayError, findNearest, listConfigKeys, suggestNearest } from '@assay/domain';
import { findFlag, FLAGS } from '../flags/flag-table.ts';
import type { ConfigFile, KeyPath } from './config-file.ts';
import { findLevel, INNER_KEYS, MISPLACED_KEYS } from './known-keys.ts';

const TOP_KEYS = listConfigKeys().map((key) => key.key);

/** Keys that lm_eval knows and that set nothing here; they may stand in a file unless they ask for what is refused. */
const isLmEvalOnly = (key: string): boolean => findFlag(key)?.key === undefined && findFlag(key) !== undefined;

export function checkTopKeys(file: ConfigFile): void {
  for (const [key, value] of Object.entries(file.values)) {
    if (TOP_KEYS.includes(key)) continue;
    const place = file.placeOfKey([key]);
    if (!isLmEvalOnly(key)) throw new AssayError('CONFIG_UNKNOWN_KEY', { place, key, nearest: suggestTopKey(key) });
    const entry = findFlag(key);
    if (entry?.status === 'refused' && !isEmpty(value)) {
      throw new AssayError('FLAG_REFUSED', { flag: `${place}: ${key}`, reason: entry.reason ?? '', instead: entry.instead ?? '' });
    }
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || (typeof value === 'object' && Object.keys(value as object).length === 0);

function suggestTopKey(key: string): string {
  const exact = key.replaceAll('-', '_');
  if (TOP_KEYS.includes(exact)) return `Write ${exact}: keys of a file have underscores.`;
  const level = findLevel(exact);
  if (level !== undefined) return `It belongs under ${level}.`;
  if (findNearest(key, TOP_KEYS, 1).length > 0 && !isNearerInside(exact)) return suggestNearest(key, TOP_KEYS, '');
  const inside = Object.entries(INNER_KEYS).flatMap(([name, keys]) => keys.map((inner) => `${name}.${inner}`));
  const near = findNearest(exact, inside.map((path) => path.split('.')[1] ?? ''), 1)[0];
  const home = near === undefined ? undefined : findLevel(near);
  if (near !== undefined && home !== undefined) return `Did you mean ${near}, under ${home}?`;
  return `Known keys: ${TOP_KEYS.join(', ')}.`;
}

/** True where a key inside a mapping is spelt more like it than any key at the top. */
function isNearerInside(key: string): boolean {
  const inner = Object.values(INNER_KEYS).flat();
  return !TOP_KEYS.includes(findNearest(key, [...TOP_KEYS, ...inner], 1)[0] ?? '');
}

export function checkInnerKeys(values: Record<string, unknown>, placeOfKey: (path: KeyPath) => string): void {
  if (values.model === 'simulated') return;
  for (const [name, known] of Object.entries(INNER_KEYS)) {
    const mapping = values[name];
    if (mapping === null || typeof mapping !== 'object') continue;
    for (const key of Object.keys(mapping)) {
      const misplaced = MISPLACED_KEYS[name]?.[key];
      if (known.includes(key) && misplaced === undefined) continue;
      throw new AssayError('CONFIG_UNKNOWN_KEY', { place: placeOfKey([name, key]), key: `${name}.${key}`, nearest: misplaced ?? suggestInnerKey(name, key, known) });
    }
  }
}

function suggestInnerKey(name: string, key: string, known: readonly string[]): string {
  const exact = key.replaceAll('-', '_');
  if (known.includes(exact)) return `Write ${exact}: keys have underscores.`;
  if (TOP_KEYS.includes(exact) || FLAGS.some((entry) => entry.flag === exact)) return `It belongs at the top of the file, or is the flag --${exact}.`;
  const level = findLevel(exact);
  if (level !== undefined && level !== name) return `It belongs under ${level}.`;
  return suggestNearest(key, known, known.length > 12 ? `${name} has no such key.` : `Known keys of ${name}: ${known.join(', ')}.`);
}
