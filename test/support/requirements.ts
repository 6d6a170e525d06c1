// What a test may need of the machine. Without it every test of the file or suite is skipped with the reason.
// ASSAY_NO_SKIP=1 (set by .ci/run, which installs system packages) turns such skips into failures.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { beforeEach } from 'vitest';

export const cloneDir = path.resolve(import.meta.dirname, '../..');
const sharedDataDir = path.join(cloneDir, '..', 'shared', 'data');

/** Call at the top of a file or a `describe`. Returns `isPresent`, so that a `beforeAll` can leave its work out. */
export function requireOrSkip(name: string, isPresent: boolean, reason: string): boolean {
  if (!isPresent && process.env['ASSAY_NO_SKIP'] === '1') throw new Error(`${name} is missing: ${reason}`);
  if (!isPresent) skipAll(`needs ${name}: ${reason}`);
  return isPresent;
}

/** The folder `../shared/data`, or undefined after skipping: it lies beside some clones only, also in CI. */
export function requireSharedData(): string | undefined {
  if (existsSync(sharedDataDir)) return sharedDataDir;
  skipAll('needs ../shared/data, which does not lie beside this clone');
  return undefined;
}

export function hasProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((dir) => dir !== '' && existsSync(path.join(dir, name)));
}

export const isRoot = process.getuid?.() === 0;

function skipAll(reason: string): void {
  beforeEach((context) => context.skip(reason));
}
