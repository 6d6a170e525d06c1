// A world for runs of the real ./assay command: ASSAY_HOME, temporary folder and runs are the test's own, and every process
// carries the world's path in its environment, so that whatever a run leaves behind shows.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment, resolveHome } from '@assay/store';
import { findProcesses, killQuietly } from './process-table.ts';
import { cloneDir } from './requirements.ts';
import { waitUntil } from './wait-until.ts';

const MARK = 'ASSAY_TEST_WORLD';
const LEAVE_MS = 15_000;

const built = readEnvironment(resolveHome(process.env));
export const demoModel = built?.demoModel;

/** Compiled once for all worlds. */
const compiledCode = { VLLM_CACHE_ROOT: join(resolveHome(process.env), 'caches', 'vllm') };

export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  pid: number;
  isOver(): boolean;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export class AssayWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'assay-world-'));
  readonly home = join(this.root, 'home');
  readonly tmp = join(this.root, 'tmp');
  readonly #cwd: string;

  /** `cwd`: where the commands run, for relative paths; without it, the world itself. */
  constructor({ cwd }: { cwd?: string } = {}) {
    this.#cwd = cwd ?? this.root;
    for (const dir of [this.home, this.tmp]) mkdirSync(dir);
    writeFileSync(join(this.home, 'environment.json'), JSON.stringify({ schema: 1, ...built }));
  }

  path(...names: string[]): string {
    return join(this.root, ...names);
  }

  /** Writes a configuration file; JSON is YAML. */
  writeConfig(name: string, settings: object): string {
    const file = this.path(name);
    writeFileSync(file, JSON.stringify(settings, null, 1));
    return file;
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
    return follow(spawn(join(cloneDir, 'assay'), args, { cwd: this.#cwd, stdio: ['ignore', 'pipe', 'pipe'], env: this.#environment(env) }));
  }

  /** `before`: what the command is given to, such as nohup. All it shows comes as stderr. */
  startOnTerminal(args: readonly string[], before: readonly string[] = []): Started & { closeTerminal(): void } {
    const command = [join(import.meta.dirname, 'terminal.py'), '/usr/bin/env', ...before, join(cloneDir, 'assay'), ...args];
    const child = spawn(built?.python ?? 'python3', command, { cwd: this.#cwd, stdio: ['pipe', 'pipe', 'pipe'], env: this.#environment({}) });
    return { ...follow(child), closeTerminal: () => { child.stdin.end(); } };
  }

  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return this.start(args, env).ended;
  }

  #environment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    return { ...process.env, ASSAY_HOME: this.home, TMPDIR: this.tmp, ...compiledCode, [MARK]: this.root, ...more };
  }

  /** Living processes of this world. */
  processes(): number[] {
    return findProcesses(`${MARK}=${this.root}`);
  }

  /** What runs have left: processes, folders of sockets, temporary files. */
  async findLeftovers(): Promise<string[]> {
    await waitUntil('the processes to end', () => this.processes().length === 0, LEAVE_MS).catch(() => undefined);
    return [
      ...this.processes().map((pid) => `process ${pid}`),
      ...list(join(this.home, 'sockets')).map((name) => `sockets/${name}`),
      ...list(this.tmp).map((name) => `tmp/${name}`),
    ];
  }

  /** Ends what is left and removes everything. */
  async remove(): Promise<void> {
    for (const pid of this.processes()) killQuietly(pid, 'SIGKILL');
    await waitUntil('the processes to end', () => this.processes().length === 0, LEAVE_MS);
    rmSync(this.root, { recursive: true, force: true });
  }
}

function follow(child: ChildProcess): Started {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name]?.setEncoding('utf8').on('data', (text: string) => { output[name] += text; });
  let isOver = false;
  const ended = new Promise<Ended>((resolve) => {
    // After `close` all output has come, but a process that outlives the command would hold it back for ever.
    child.once('exit', (exitCode, signal) => {
      isOver = true;
      const finish = () => resolve({ exitCode, signal, ...output });
      child.once('close', finish);
      setTimeout(finish, 2_000).unref();
    });
  });
  return { pid: child.pid ?? -1, isOver: () => isOver, stderr: () => output.stderr, kill: (signal) => { child.kill(signal); }, ended };
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
