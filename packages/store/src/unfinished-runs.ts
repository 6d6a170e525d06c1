// Runs of the same command that were not completed: without a path, the next start goes on with the newest of them.
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { digestOf } from './identity.ts';
import { readRunHeader, type RunHeader } from './run-header.ts';
import { RUNS_FOLDER, type RunLocation, type RunRequest } from './run-location.ts';
import { buildRunPaths } from './run-paths.ts';

/** An older run than so many others is not looked for. */
const MOST_LOOKED_AT = 200;

/** Of runs/, those with these very settings and no manifest, the newest first. One that cannot be read is passed over. */
export async function* findUnfinishedRuns({ cwd, settings }: RunRequest): AsyncGenerator<RunLocation & { header: RunHeader }> {
  const folder = join(resolve(cwd), RUNS_FOLDER);
  // Names begin with the time of the start.
  const names = (await readdir(folder).catch(() => [])).toSorted().toReversed().slice(0, MOST_LOOKED_AT);
  const digest = digestOf(settings);
  for (const name of names) {
    const dir = join(folder, name);
    const header = await readRunHeader(dir).catch(() => undefined);
    const isSealed = await stat(buildRunPaths(dir).manifest).then(() => true, () => false);
    if (header?.settingsDigest === digest && !isSealed) yield { dir, header };
  }
}
