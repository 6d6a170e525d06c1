// The part that run, plan and probe share: from parsed flags to a composed configuration.
import { resolve } from 'node:path';
import { listConfigKeys } from '@assay/domain';
import type { Command } from 'commander';
import { checkPaths } from './config/check-paths.ts';
import { refuseTaskLists } from './config/refuse-task-lists.ts';
import { composeConfig, type Composed } from './config/compose.ts';
import { readConfigFile } from './config/config-file.ts';
import type { FlagEntry } from './flags/flag-entry.ts';
import { addConfigFlags, readFlags } from './flags/read-flags.ts';
import type { Surroundings } from './surroundings.ts';

const descriptions = new Map(listConfigKeys().map((key) => [key.key, key]));

/** What help says of a flag: the schema's words, its form where the words do not give it, and the default. */
export function describeFlag(entry: FlagEntry): string {
  const key = entry.key === undefined ? undefined : descriptions.get(entry.key);
  const text = entry.description ?? key?.description ?? '';
  const initial = key?.default;
  const shown = initial === undefined || (typeof initial === 'object') ? '' : ` (default: ${String(initial)})`;
  return `${text}${shown}`;
}

export function addRunFlags(command: Command): void {
  addConfigFlags(command, describeFlag);
  command.option('--json', 'write the outcome, or the error, to stdout as JSON');
}

/** Throws for anything wrong in flags or file. Sets what the harness reads from its environment. */
export function loadConfig(options: Record<string, unknown>, around: Surroundings): Composed {
  const flags = readFlags(options);
  refuseTaskLists(flags.values.tasks, around.env);
  if (flags.verbosity !== undefined) around.env['LMEVAL_LOG_LEVEL'] = flags.verbosity;
  const file = flags.configFile === undefined ? undefined : readConfigFile(resolve(around.cwd, flags.configFile), around.cwd);
  const composed = composeConfig({ flags, file, cwd: around.cwd });
  checkPaths(composed.config, (key) => composed.provenance[key] ?? 'command line');
  return composed;
}
