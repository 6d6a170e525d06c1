// Every subcommand: its name, its one-line summary, and the file that is imported when it is asked for.
import type { Command } from 'commander';
import type { Surroundings } from './surroundings.ts';

/** Adds arguments and action to a command; the action gives its exit code to `finish`. */
export type DefineCommand = (command: Command, around: Surroundings, finish: (exitCode: number) => void) => void;

interface CommandEntry {
  summary: string;
  load(): Promise<{ define: DefineCommand }>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  run: { summary: 'run an evaluation to completion; the same command again resumes it', load: () => import('./commands/run.ts') },
  plan: { summary: 'show how the model would lie on the devices, and why; loads no model', load: () => import('./commands/plan.ts') },
  probe: { summary: 'load the model and run the worst dummy step of the run', load: () => import('./commands/probe.ts') },
  status: { summary: 'show the state, progress and processes of a run', load: () => import('./commands/status.ts') },
  results: { summary: 'show the scores of a run', load: () => import('./commands/results.ts') },
  logs: { summary: 'show what a run and its workers wrote', load: () => import('./commands/logs.ts') },
  doctor: { summary: 'check this machine: environment, engine, Redis, devices, disk', load: () => import('./commands/doctor.ts') },
};
