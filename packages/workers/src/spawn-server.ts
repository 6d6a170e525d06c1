// Starts a server of ours, such as Redis, so that it cannot outlive this process.
import { signalGroup } from './process-group.ts';
import { type RawExit, spawnGuarded } from './spawn-guarded.ts';

export interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<RawExit>;
  kill(signal: NodeJS.Signals): void;
}

/** Output goes to `logFile`. Nothing is sent to it and nothing is read from it. */
export function spawnServer({ python, command, logFile }: { python: string; command: readonly string[]; logFile: string }): ServerProcess {
  const { pid, stdin, events, ended } = spawnGuarded({ python, command, env: {}, logFile });
  stdin.on('error', () => undefined);
  stdin.end();
  events.on('error', () => undefined);
  events.resume();
  return {
    pid,
    exited: ended,
    // The whole group: where the interpreter is a script around one, the server is its child.
    kill: (signal) => { signalGroup(pid, signal); },
  };
}
