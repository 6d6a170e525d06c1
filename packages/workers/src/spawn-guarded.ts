// The only door to execa: starts a program in a process group of its own that the kernel ends with this process.
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AssayError } from '@assay/domain';
import { execa } from 'execa';
import { requireDescriptors } from './descriptors.ts';

const GUARD = fileURLToPath(new URL('../guard.py', import.meta.url));

interface GuardedCommand {
  /** Any Python 3; it runs the guard, which then becomes `command`. */
  python: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  cpus?: readonly number[];
  /** Takes it into a control group before it runs; absent: that of this process. */
  membersFile?: string;
  /** Takes fd 1 and 2 directly, so that what a dying program says is kept even when this process is dying too. */
  logFile: string;
}

export interface RawExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface GuardedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  /** What the program writes to fd 3. */
  readonly events: Readable;
  /** Resolves when the program itself has ended; its descendants may still live. */
  readonly ended: Promise<RawExit>;
}

/** Throws PYTHON_MISSING when the guard's interpreter cannot be started, TOO_MANY_FILES when nothing can be. */
export function spawnGuarded({ python, command, env, cpus, membersFile, logFile }: GuardedCommand): GuardedProcess {
  mkdirSync(dirname(logFile), { recursive: true });
  // Any open descriptor works; execa's types list only the first few.
  const log = openSync(logFile, 'a') as 3;
  try {
    const guard = ['-I', '-S', GUARD, String(process.pid), cpus?.join(',') || '-', membersFile ?? '-'];
    const subprocess = execa(python, [...guard, ...command], {
      stdio: ['pipe', log, log, 'pipe'],
      env: { ...env },
      detached: true,
      cleanup: false,
      buffer: false,
      reject: false,
    });
    if (subprocess.pid === undefined) {
      requireDescriptors();
      throw new AssayError('PYTHON_MISSING', { problem: `${python} cannot be started` });
    }
    const ended = new Promise<RawExit>((resolve) => {
      subprocess.nodeChildProcess.once('exit', (code, signal) => resolve({ code, signal }));
    });
    return { pid: subprocess.pid, stdin: subprocess.stdin as Writable, events: subprocess.stdio[3] as Readable, ended };
  } finally {
    closeSync(log);
  }
}
