// Files of the kernel: one that is not there on this system says nothing.
import { readFileSync } from 'node:fs';

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
