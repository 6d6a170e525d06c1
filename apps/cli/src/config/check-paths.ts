// Paths the configuration names and the harness would only find missing after seconds of imports.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AssayError, findNearPaths, type RunConfig } from '@assay/domain';

type PlaceOf = (key: keyof RunConfig) => string;

export function checkPaths(config: RunConfig, placeOf: PlaceOf): void {
  for (const folder of config.include_path) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue;
    throw new AssayError('CONFIG_VALUE', { place: placeOf('include_path'), key: 'include_path', problem: `no such folder: ${folder}${suggestSibling(folder)}` });
  }
  for (const task of config.tasks.filter((name) => name.startsWith('/') && !/[*?[]/.test(name))) {
    if (!existsSync(task)) throw new AssayError('TASK_UNKNOWN', { task, nearest: `No such file or folder${suggestSibling(task) || '.'}` });
  }
}

function suggestSibling(path: string): string {
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
  const near = findNearPaths(basename(path), names);
  return near.length === 0 ? '' : `; beside it there is ${near.map((name) => join(dirname(path), name)).join(', ')}`;
}
