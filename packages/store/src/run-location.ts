// Where a run lives. DIR where that is new or holds this very run; DIR/<model>-<digest> where DIR holds other runs or other
// files; a new runs/<time>-<model> without a path. A folder of its own is made by a mkdir that fails where one is there.
import { readdir, mkdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AssayError } from '@assay/domain';
import { toDiskError } from './disk.ts';
import { compareIdentities, digestOf, formatDifferences, type JsonObject } from './identity.ts';
import { readRunHeader, type RunHeader } from './run-header.ts';
import { LOCK_FILES } from './run-paths.ts';

/** Settings that say which evaluation this is. Where one of these differs, DIR holds another run; any other, this run changed. */
const SUBJECT_KEYS = ['model', 'model_args.pretrained', 'tasks'] as const;

/** Below the working directory: where runs without a path lie. */
export const RUNS_FOLDER = 'runs';

const MOST_SUFFIXES = 1000;
const MODEL_NAME_CHARACTERS = 60;

export interface RunRequest {
  /** What the user gave, relative to `cwd`. */
  outputPath: string | undefined;
  cwd: string;
  model: string;
  /** From selectRunSettings. */
  settings: JsonObject;
  now: Date;
  /** Without a path, an unfinished run of the same settings is not gone on with. */
  startsNew?: boolean;
}

export interface RunLocation {
  dir: string;
  /** undefined: it holds no run yet, and nothing else. */
  header: RunHeader | undefined;
  /** The uppermost folder of its path that was made for it, itself included; undefined where it was there. */
  madeFrom?: string | undefined;
}

/** Chooses the folder and makes it. Throws RUN_DIFFERS, OUTPUT_NOT_WRITABLE or DISK_FULL. */
export async function resolveRunDirectory(request: RunRequest): Promise<RunLocation> {
  if (request.outputPath === undefined) return makeTimedFolder(request);
  const dir = resolve(request.cwd, request.outputPath);
  const atPath = await inspectFolder(dir, request);
  if (atPath !== 'taken') return atPath;
  const nested = join(dir, `${cleanModelName(request.model)}-${digestOf(request.settings).slice(0, 8)}`);
  const inside = await inspectFolder(nested, request);
  if (inside !== 'taken') return inside;
  throw new AssayError('OUTPUT_NOT_WRITABLE', { dir: nested, problem: 'it holds other files' });
}

/** "HuggingFaceTB/SmolLM2" and "/models/SmolLM2/" both become "SmolLM2". */
export function cleanModelName(model: string): string {
  const name = basename(model.replace(/\/+$/, '')).replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[.-]+/, '');
  return name.slice(0, MODEL_NAME_CHARACTERS) || 'model';
}

async function inspectFolder(dir: string, request: RunRequest): Promise<RunLocation | 'taken'> {
  const held = await inspectHeader(dir, request);
  if (held) return held;
  const madeFrom = await makeFolder(dir);
  if (madeFrom !== undefined || (await isUnused(dir))) return { dir, header: undefined, madeFrom };
  // Another start may have made it a run since we looked; a header comes before anything else.
  return (await inspectHeader(dir, request)) ?? 'taken';
}

async function inspectHeader(dir: string, request: RunRequest): Promise<RunLocation | 'taken' | undefined> {
  const header = await readRunHeader(dir).catch((error: unknown) => { throw toDiskError(error, dir); });
  if (!header) return undefined;
  return isSameRun(dir, header, request) ? { dir, header } : 'taken';
}

/** True: resume it. False: it is another evaluation. Throws RUN_DIFFERS where it is this evaluation under other settings. */
function isSameRun(dir: string, header: RunHeader, request: RunRequest): boolean {
  if (header.settingsDigest === digestOf(request.settings)) return true;
  const differences = compareIdentities(header.settings, request.settings);
  const isOther = differences.some(({ field }) => SUBJECT_KEYS.some((key) => field === key || field.startsWith(`${key}.`)));
  if (isOther) return false;
  throw new AssayError('RUN_DIFFERS', { dir, differences: formatDifferences(differences) });
}

/** Parents are made where missing; the folder itself by a mkdir that tells whether it was us who made it. Returns the uppermost that was made. */
async function makeFolder(dir: string): Promise<string | undefined> {
  try {
    const parent = await mkdir(dirname(dir), { recursive: true });
    await mkdir(dir);
    return parent ?? dir;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST' && (await isFolder(dir))) return undefined;
    throw toDiskError(error, dir);
  }
}

async function isFolder(dir: string): Promise<boolean> {
  return readdir(dir).then(() => true, (error: NodeJS.ErrnoException) => error.code !== 'ENOTDIR');
}

/** Empty, but for the lock of a start that ended before it wrote its header. */
async function isUnused(dir: string): Promise<boolean> {
  const names = await readdir(dir).catch((error: unknown) => { throw toDiskError(error, dir); });
  return names.every((name) => LOCK_FILES.includes(name) || /^\..*\.tmp$/.test(name));
}

async function makeTimedFolder({ cwd, model, now }: RunRequest): Promise<RunLocation> {
  const time = now.toISOString().slice(0, 19).replaceAll(':', '-');
  const name = join(resolve(cwd), RUNS_FOLDER, `${time}-${cleanModelName(model)}`);
  for (let suffix = 1; suffix <= MOST_SUFFIXES; suffix += 1) {
    const dir = suffix === 1 ? name : `${name}-${suffix}`;
    const madeFrom = await makeFolder(dir);
    if (madeFrom !== undefined) return { dir, header: undefined, madeFrom };
  }
  throw new AssayError('OUTPUT_NOT_WRITABLE', { dir: name, problem: `${MOST_SUFFIXES} folders of this second are there` });
}
