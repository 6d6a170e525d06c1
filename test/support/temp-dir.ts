// Folders of a test, removed when it ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder with a short path, so that a socket fits into it. */
export function makeTempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'assay-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
