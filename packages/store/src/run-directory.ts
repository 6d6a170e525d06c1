// A run directory, open for writing (with its lock) or for reading (without). It is the system of record of its run.
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError, redactSecrets } from '@assay/domain';
import { stringify } from 'yaml';
import { writeFileAtomic } from './atomic-file.ts';
import { discardFolder } from './discard-folder.ts';
import { checkWritable, toDiskError } from './disk.ts';
import { digestOf, type JsonObject } from './identity.ts';
import { type FileLock, lockFile, tryLockFile } from './lock-file.ts';
import { readRunHeader, RUN_SCHEMA_VERSION, type RunHeader, writeRunHeader } from './run-header.ts';
import { type RunLocation, type RunRequest, resolveRunDirectory } from './run-location.ts';
import { buildRunPaths, type RunPaths } from './run-paths.ts';
import { findUnfinishedRuns } from './unfinished-runs.ts';

const HEADER_WAITS = 100;
const HEADER_WAIT_MS = 20;

export interface RunDirectory {
  dir: string;
  header: RunHeader;
  paths: RunPaths;
}

export interface OpenRunDirectory extends RunDirectory {
  isResumed: boolean;
  /** Nobody named it: it was the newest unfinished one of these settings. */
  isFound: boolean;
  /** Gives the lock back. */
  close(): void;
  /** In place of `close`: takes away what this start has made of it, for a run that never was. One that is resumed stays. */
  discard(): Promise<void>;
}

/**
 * Chooses, makes and locks a run's directory and writes run.json where it is new.
 * Throws RUN_BUSY, RUN_DIFFERS, RUN_VERSION, OUTPUT_NOT_WRITABLE or DISK_FULL.
 */
export async function openRunDirectory(request: RunRequest): Promise<OpenRunDirectory> {
  if (request.outputPath === undefined && request.startsNew !== true) {
    const found = await takeUnfinished(request);
    if (found) return found;
  }
  const location = await resolveRunDirectory(request);
  await checkWritable(location.dir);
  const paths = buildRunPaths(location.dir);
  if (location.header) return makeOpen(location, location.header, { lock: await lockFile(paths.lock), isResumed: true });
  const attempt = await tryLockFile(paths.lock);
  if (!attempt.lock) return waitForHeader(location, request, attempt.holderPid);
  try {
    // Between our look and our lock another start may have made it its own.
    if (await readRunHeader(location.dir)) {
      attempt.lock.release();
      return openRunDirectory(request);
    }
    const header = buildHeader(request);
    await writeRunHeader(location.dir, header);
    return await makeOpen(location, header, { lock: attempt.lock, isResumed: false });
  } catch (error) {
    attempt.lock.release();
    throw toDiskError(error, location.dir);
  }
}

/** The newest unfinished run of these settings that nobody is at work on. */
async function takeUnfinished(request: RunRequest): Promise<OpenRunDirectory | undefined> {
  for await (const { dir, header } of findUnfinishedRuns(request)) {
    const { lock } = await tryLockFile(buildRunPaths(dir).lock).catch(() => ({ lock: undefined }));
    if (lock) return makeOpen({ dir }, header, { lock, isResumed: true, isFound: true });
  }
  return undefined;
}

/** For commands that only look. Throws RUN_NOT_FOUND or RUN_VERSION. */
export async function readRunDirectory(dir: string): Promise<RunDirectory> {
  const header = await readRunHeader(dir);
  if (!header) throw new AssayError('RUN_NOT_FOUND', { dir });
  return { dir, header, paths: buildRunPaths(dir) };
}

/** config.yaml: the composed configuration without secrets. Written at each start, since settings outside the identity may change. */
export async function writeConfig(run: RunDirectory, config: object): Promise<void> {
  await writeFileAtomic(run.paths.config, stringify(redactSecrets(JSON.parse(JSON.stringify(config)) as JsonObject)));
}

async function waitForHeader(location: RunLocation, request: RunRequest, holderPid: number | undefined): Promise<OpenRunDirectory> {
  for (let wait = 0; wait < HEADER_WAITS; wait += 1) {
    if (await readRunHeader(location.dir)) return openRunDirectory(request);
    await sleep(HEADER_WAIT_MS);
  }
  throw new AssayError('RUN_BUSY', { dir: location.dir, pid: holderPid ?? 'unknown' });
}

async function prepareFolders(dir: string): Promise<void> {
  const paths = buildRunPaths(dir);
  for (const folder of [paths.requestsDir, paths.resultsDir, paths.scoresDir, paths.logsDir]) await mkdir(folder, { recursive: true });
}

function buildHeader({ model, settings, now }: RunRequest): RunHeader {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return {
    schema: RUN_SCHEMA_VERSION,
    id: `${time}-${randomBytes(4).toString('hex')}`,
    createdAt: now.toISOString(),
    model,
    settingsDigest: digestOf(settings),
    settings: { ...settings },
  };
}

interface Opened {
  lock: FileLock;
  isResumed: boolean;
  isFound?: boolean;
}

async function makeOpen({ dir, madeFrom }: Pick<RunLocation, 'dir' | 'madeFrom'>, header: RunHeader, { lock, isResumed, isFound = false }: Opened): Promise<OpenRunDirectory> {
  try {
    await prepareFolders(dir);
  } catch (error) {
    lock.release();
    throw toDiskError(error, dir);
  }
  return {
    dir, header, paths: buildRunPaths(dir), isResumed, isFound,
    close: () => lock.release(),
    discard: async () => (isResumed ? lock.release() : discardFolder({ dir, madeFrom, lock })),
  };
}
