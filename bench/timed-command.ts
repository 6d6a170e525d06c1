// Runs a program to its end in a process group of its own, and ends whatever of the group is left then.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { readEnvironment, resolveHome } from '@assay/store';

export const cloneDir = path.resolve(import.meta.dirname, '..');

export interface TimedCommand {
  /** Unix seconds. */
  startedAt: number;
  seconds: number;
  stdout: string;
}

export interface TimedOptions {
  env?: Readonly<Record<string, string>>;
  /** Those that are no failure. */
  exitCodes?: readonly number[];
}

/** Throws, with what it said last, where it ends otherwise. */
export async function runTimed(program: string, args: readonly string[], { env = {}, exitCodes = [0] }: TimedOptions = {}): Promise<TimedCommand> {
  const startedAt = Date.now() / 1000;
  const child = spawn(program, args, { cwd: cloneDir, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => { output[name] += text; });
  const exitCode = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  endGroup(child.pid);
  if (exitCode === null || !exitCodes.includes(exitCode)) throw new Error(`${program} ${args.join(' ')}: exit ${exitCode}\n${output.stderr.slice(-2000)}`);
  return { startedAt, seconds: Date.now() / 1000 - startedAt, stdout: output.stdout };
}

/** The set-up's interpreter and demo model. */
export function readSetUp(): { python: string; demoModel: string } {
  const { python, demoModel } = readEnvironment(resolveHome(process.env)) ?? {};
  if (!python || !demoModel) throw new Error('run `npm run setup` first');
  return { python, demoModel };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
}
