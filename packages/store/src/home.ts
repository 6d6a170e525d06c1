// ASSAY_HOME: what this machine keeps between runs. Everything in it can be deleted; it is built or found again.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

/** What lies in the home folder; a name may end in "*". `assay doctor` shows this table and docs/run-directory.md repeats it. */
export const HOME_ENTRIES = {
  'environment.json': 'where the interpreter, the demo model and the Redis server are; written last by the set-up',
  'python-*': 'Python environments of the engine and the harness, by the digest of their pinned versions',
  models: 'the demo model',
  'weight-digests.json': 'digests of weight files by path, size, time and inode, so that a file is read once',
  'learned-*': 'what runs have shown of memory, of plans that did not fit, of speed and of the lengths of answers, to start the next one better; bounded, and its lock',
  devices: 'leases of GPUs: a locked file each, which the kernel frees when its run ends',
  ports: 'leases of port ranges for engines: a locked file each, which the kernel frees when its run ends',
  sockets: 'where the processes of a run meet: the embedded Redis with its data, and the ranks of engines; a private folder a run (mode 700), removed by it',
  caches: 'what the libraries of engines compile and look up: vLLM, torch, Triton, FlashInfer, CUDA, a folder each; their own variables name another place',
  logs: 'logs of the latest set-ups',
  'setup-tmp': 'what a set-up is building; swept by the next one',
} as const;

/** What a name in the home folder stands for; undefined for a stranger. */
export function explainHomeEntry(name: string): string | undefined {
  const [, meaning] = Object.entries(HOME_ENTRIES).find(([known]) => (known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known)) ?? [];
  return meaning;
}

const environmentSchema = z.object({
  schema: z.literal(1),
  python: z.string().min(1),
  demoModel: z.string().optional(),
  redisServer: z.string().optional(),
});

export interface AssayEnvironment {
  python: string;
  demoModel: string | undefined;
  redisServer: string | undefined;
}

/** ASSAY_HOME, else XDG_CACHE_HOME/assay, else ~/.cache/assay. An empty variable counts as unset, a relative cache folder as none. */
export function resolveHome(env: Environment): string {
  if (env['ASSAY_HOME']) return resolve(env['ASSAY_HOME']);
  const cache = env['XDG_CACHE_HOME'];
  return join(cache && isAbsolute(cache) ? cache : join(env['HOME'] || homedir(), '.cache'), 'assay');
}

/** What the set-up built, or undefined where it has not run. ASSAY_PYTHON names another interpreter, with or without a set-up. */
export function readEnvironment(home: string, env: Environment = process.env): AssayEnvironment | undefined {
  const built = readBuilt(join(home, 'environment.json'));
  const named = env['ASSAY_PYTHON'];
  // A path is from here, not from where a worker runs; a bare name is looked for on PATH.
  const python = named?.includes('/') ? resolve(named) : named || built?.python;
  return python ? { python, demoModel: built?.demoModel, redisServer: built?.redisServer } : undefined;
}

function readBuilt(path: string): z.output<typeof environmentSchema> | undefined {
  try {
    return environmentSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Missing, half written or of another version: the set-up writes it anew.
    return undefined;
  }
}
