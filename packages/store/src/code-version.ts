// Which code runs: the version of the package, and the commit where the source is the product's own checkout. A repository
// that merely lies around it, or around the working directory, says nothing about it.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const GIT_TIMEOUT_MS = 10_000;
const PRODUCT = 'assay';

export interface CodeVersion {
  version: string;
  /** null where the source is no checkout, or git cannot tell. */
  commit: string | null;
  dirty: boolean | null;
}

/** `from` is a file of the source; the default is this one. Never throws, never writes to stderr. */
export async function readCodeVersion(from = fileURLToPath(import.meta.url)): Promise<CodeVersion> {
  const root = findRoot(dirname(from));
  if (root === undefined) return { version: 'unknown', commit: null, dirty: null };
  const version = readVersion(root) ?? 'unknown';
  // A file in a worktree or submodule, a folder elsewhere; without either the root belongs to another repository or to none.
  if (!existsSync(join(root, '.git'))) return { version, commit: null, dirty: null };
  const commit = (await askGit(root, ['rev-parse', '--verify', 'HEAD']))?.trim() || null;
  const changes = await askGit(root, ['status', '--porcelain']);
  return { version, commit, dirty: changes === undefined ? null : changes.trim() !== '' };
}

function findRoot(dir: string): string | undefined {
  if (readName(dir) === PRODUCT) return dir;
  const parent = dirname(dir);
  return parent === dir ? undefined : findRoot(parent);
}

function readName(dir: string): unknown {
  return readPackage(dir)?.['name'];
}

function readVersion(dir: string): string | undefined {
  const version = readPackage(dir)?.['version'];
  return typeof version === 'string' ? version : undefined;
}

function readPackage(dir: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** undefined where git is missing, refuses the folder (safe.directory) or takes too long. */
async function askGit(root: string, command: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['-C', root, ...command], { env: cleanEnvironment(), timeout: GIT_TIMEOUT_MS });
    return stdout;
  } catch {
    return undefined;
  }
}

/** GIT_DIR and its kind, set inside hooks, would answer for another repository; a status must take no lock. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}
