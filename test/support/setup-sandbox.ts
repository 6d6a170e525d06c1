// A copy of the clone with an empty home directory, to run the set-up in as a new user would. Registry settings stay the machine's.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { cloneDir } from './requirements.ts';
import { findProcesses, killQuietly } from './process-table.ts';
import { listFiles } from './source-tree.ts';
import { waitUntil } from './wait-until.ts';

interface Finished {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  durationMs: number;
}

interface Started {
  pid: number;
  /** What it has printed so far. */
  output: () => string;
  ended: Promise<Finished>;
}

export interface Sandbox {
  clone: string;
  userHome: string;
  assayHome: string;
  /** Starts a command in the clone; variables given as undefined are removed. */
  start: (command: string[], env?: NodeJS.ProcessEnv) => Started;
  run: (command: string[], env?: NodeJS.ProcessEnv) => Promise<Finished>;
  /** Ends what is left and removes everything. */
  remove: () => Promise<void>;
}

export function createSandbox(): Sandbox {
  const dir = mkdtempSync(path.join(tmpdir(), 'assay-setup-'));
  const clone = path.join(dir, 'clone');
  const userHome = path.join(dir, 'home');
  mkdirSync(userHome);
  for (const name of listFiles()) cpSync(path.join(cloneDir, name), path.join(clone, name));
  const start: Sandbox['start'] = (command, env = {}) => startCommand(command, clone, { ...bareEnvironment(userHome), ...env });
  return {
    clone,
    userHome,
    assayHome: path.join(userHome, '.cache', 'assay'),
    start,
    run: (command, env) => start(command, env).ended,
    remove: async () => {
      for (const pid of findProcesses(dir)) killQuietly(pid, 'SIGKILL');
      await waitUntil('the processes of the set-up to end', () => findProcesses(dir).length === 0);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The caller's environment without what vitest, npm and an earlier set-up put there, and with the system's own Node first. */
function bareEnvironment(userHome: string): NodeJS.ProcessEnv {
  const ours = /^(npm_|VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$|ASSAY_|XDG_|VLLM_|TINYPOOL)/;
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  const systemPath = (kept['PATH'] ?? '').split(path.delimiter).filter((dir) => !dir.includes('node_modules')).join(path.delimiter);
  return { ...kept, ...registrySettings(), PATH: systemPath, HOME: userHome };
}

/** Where npm and pip find their registries, if that is written in the home directory, and pip's downloads. */
function registrySettings(): NodeJS.ProcessEnv {
  const candidates = { npm_config_userconfig: '.npmrc', PIP_CONFIG_FILE: '.config/pip/pip.conf', PIP_CACHE_DIR: '.cache/pip' };
  const found = Object.entries(candidates).map(([name, place]) => [name, process.env[name] ?? path.join(homedir(), place)] as const);
  return Object.fromEntries(found.filter(([, place]) => existsSync(place)));
}

function startCommand([file = '', ...args]: string[], cwd: string, env: NodeJS.ProcessEnv): Started {
  const startMs = performance.now();
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => { output += text; });
  }
  const ended = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    // Not `close`: a child that outlives a killed set-up would hold the pipes open.
    child.once('exit', (exitCode, signal) => setImmediate(() => resolve({ exitCode, signal, output, durationMs: performance.now() - startMs })));
  });
  return { pid: child.pid ?? -1, output: () => output, ended };
}
