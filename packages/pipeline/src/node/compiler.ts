// The C++ compiler that torch's CPU code generator takes: what CXX names, else g++, looked for on PATH. No other is tried by it.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Its path, or undefined where a compilation would fail. */
export function findCompiler(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = env['CXX'] || 'g++';
  const paths = name.includes('/') ? [name] : (env['PATH'] ?? '').split(delimiter).filter(Boolean).map((folder) => join(folder, name));
  return paths.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
