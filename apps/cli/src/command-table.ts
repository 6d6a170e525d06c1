// Every subcommand: its name, its one-line summary, and the file that is imported when it is asked for.
import type { DefineCommand } from './define-command.ts';

interface CommandEntry {
  summary: string;
  load(): Promise<{ define: DefineCommand }>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  run: { summary: 'run an evaluation to completion; the same command again resumes it', load: () => import('./commands/run.ts') },
  plan: { summary: 'show how the model would lie on the devices, and why; loads no model', load: () => import('./commands/plan.ts') },
  probe: { summary: 'load the model and run the largest step of the run with dummy data: does it fit?', load: () => import('./commands/probe.ts') },
  status: { summary: 'show the state, progress and processes of a run', load: () => import('./commands/status.ts') },
  results: { summary: 'show the scores of a run', load: () => import('./commands/results.ts') },
  logs: { summary: 'show what a run and its workers wrote', load: () => import('./commands/logs.ts') },
  doctor: { summary: 'check this machine: environment, engine, Redis, devices, disk', load: () => import('./commands/doctor.ts') },
};
