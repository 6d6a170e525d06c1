// The files of the clone, as a fresh clone would hold them: without what .gitignore leaves out.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cloneDir } from './requirements.ts';

const IGNORED = new Set([
  '.git', 'node_modules', 'runs', '__pycache__', '.pytest_cache', '.ruff_cache', '.mypy_cache', 'coverage', '.vitest',
]);

export interface SourceFile {
  /** Relative to the clone, with "/". */
  name: string;
  text: string;
}

/** Names of all files, sorted. */
export function listFiles(dir = ''): string[] {
  const entries = readdirSync(path.join(cloneDir, dir), { withFileTypes: true });
  return entries
    .filter((entry) => !IGNORED.has(entry.name) && !/\.(pyc|tsbuildinfo)$/.test(entry.name))
    .flatMap((entry) => {
      const name = path.posix.join(dir, entry.name);
      return entry.isDirectory() ? listFiles(name) : entry.isFile() ? [name] : [];
    })
    .toSorted();
}

export function readFile(name: string): SourceFile {
  return { name, text: readFileSync(path.join(cloneDir, name), 'utf8') };
}

export function readSources(pattern: RegExp): SourceFile[] {
  return listFiles().filter((name) => pattern.test(name)).map(readFile);
}

/** Tests, and what only tests import: `test-…` modules, `testing` folders and conformance suites. */
export function isTest(name: string): boolean {
  return /\.test\.(ts|mjs)$|^test\/|\/(tests|testing)\/|\/(test-[a-z-]+|[a-z-]+-conformance)\.ts$/.test(name);
}
