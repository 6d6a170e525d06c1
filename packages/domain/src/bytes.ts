// Byte sizes as people write them. GB is 10^9 and GiB is 2^30, always.
import { AssayError } from './errors.ts';

export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

const UNITS = new Map(Object.entries({
  b: 1,
  kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12,
  kib: KIB, mib: MIB, gib: GIB, tib: 2 ** 40,
}));

/** Parses "5GiB", "1.5 GB" or a plain number of bytes. Throws CONFIG_VALUE otherwise. */
export function parseBytes(text: string | number): number {
  if (typeof text === 'number') return text;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = UNITS.get(match?.[2]?.toLowerCase() || 'b');
  if (!match || unit === undefined) {
    throw new AssayError('CONFIG_VALUE', { place: 'size', key: text, problem: 'expected a size such as 5GiB or 80GB' });
  }
  const bytes = Math.round(Number(match[1]) * unit);
  if (!Number.isSafeInteger(bytes)) throw new AssayError('CONFIG_VALUE', { place: 'size', key: text, problem: 'more than any machine has' });
  return bytes;
}

/** Formats in binary units: 1610612736 → "1.5 GiB". */
export function formatBytes(bytes: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let power = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && power < names.length - 1) {
    value /= 1024;
    power += 1;
  }
  return `${power === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${names[power]}`;
}
