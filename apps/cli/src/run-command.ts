// From argv to an exit code. Without a subcommand, flags mean `run`, as they do for lm_eval.
import { AssayError, EXIT_CODES, suggestNearest } from '@assay/domain';
import { readCodeVersion } from '@assay/store';
import { Command, CommanderError } from 'commander';
import { COMMANDS } from './command-table.ts';
import { reportError } from './errors.ts';
import { buildUnknownFlag, spellFlags } from './flags/read-flags.ts';
import type { Surroundings } from './surroundings.ts';

/** Help looks the same everywhere, so that it can be kept as a document. */
const HELP_COLUMNS = 120;

export async function runCommand(around: Surroundings): Promise<number> {
  const argv = insertRun(spellFlags(around.argv));
  try {
    return await dispatch(argv, around);
  } catch (thrown) {
    return reportError(thrown, { ...around, argv });
  }
}

/** `assay --tasks …` is `assay run --tasks …`, and `assay help run` is `assay run --help`. */
function insertRun(argv: string[]): string[] {
  const [first, second] = argv;
  if (first === 'help' && second !== undefined && Object.hasOwn(COMMANDS, second)) return [second, '--help'];
  const isFlag = first !== undefined && first.startsWith('-') && !['--help', '-h', '--version', '-V'].includes(first);
  return isFlag ? ['run', ...argv] : argv;
}

async function dispatch(argv: string[], around: Surroundings): Promise<number> {
  const program = await buildProgram(argv[0], around);
  let exitCode: number = EXIT_CODES.done;
  const [name] = argv;
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name !== undefined && entry === undefined && !name.startsWith('-') && name !== 'help') throw buildUnknownCommand(name);
  if (entry !== undefined && name !== undefined) {
    const { define } = await entry.load();
    const command = program.commands.find((each) => each.name() === name) as Command;
    define(command, around, (code) => { exitCode = code; });
  }
  try {
    await program.parseAsync(argv.length === 0 ? ['--help'] : argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0 || thrown.code === 'commander.help') return EXIT_CODES.done;
    throw translate(thrown, program.commands.find((each) => each.name() === name));
  }
  return exitCode;
}

/** The whole command with the summaries of all subcommands; `wanted` alone gets its arguments, later. */
async function buildProgram(wanted: string | undefined, around: Surroundings): Promise<Command> {
  const program = new Command('assay');
  const needsVersion = wanted === '--version' || wanted === '-V';
  program.description('Queues, plans, runs and records LLM evaluations so that every score can be reproduced or explained.');
  program.version(needsVersion ? await describeVersion() : '', '-V, --version', 'show the version');
  configureOutput(program, around);
  for (const [name, { summary }] of Object.entries(COMMANDS)) configureOutput(program.command(name).description(summary), around);
  program.addHelpText('after', '\nWithout a command, flags mean run: `assay --tasks … --model_args …`.\nExit codes: 0 done · 1 incomplete, or with sample errors · 2 usage · 3 environment · 4 run failed · 70 bug · 130 interrupted.');
  return program;
}

function configureOutput(command: Command, { stdout }: Surroundings): void {
  command.exitOverride();
  command.helpOption('-h, --help', 'show this help');
  command.configureHelp({ helpWidth: HELP_COLUMNS });
  // Errors are thrown and reported once, by reportError.
  command.configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => undefined, getOutHelpWidth: () => HELP_COLUMNS, getOutHasColors: () => false });
}

async function describeVersion(): Promise<string> {
  const { version, commit, dirty } = await readCodeVersion();
  return `assay ${version}${commit ? ` (${commit.slice(0, 12)}${dirty ? ', changed' : ''})` : ''}`;
}

function buildUnknownCommand(name: string): AssayError {
  const advice = name === 'ls' || name === 'validate' ? `\`lm_eval ${name}\` does this; it comes with the set-up's Python environment.` : 'See `assay --help`.';
  return new AssayError('ARGUMENT_UNKNOWN', { what: 'command', name, nearest: suggestNearest(name, Object.keys(COMMANDS), advice) });
}

/** Commander's complaints, in our words. */
function translate(error: CommanderError, command: Command | undefined): AssayError {
  const quoted = /'([^']+)'/.exec(error.message)?.[1] ?? error.message;
  const own = (command?.options ?? []).map((option) => option.name());
  if (error.code === 'commander.unknownOption') return buildUnknownFlag(quoted.replace(/=.*$/s, ''), own);
  if (error.code === 'commander.optionMissingArgument') {
    return new AssayError('CONFIG_VALUE', { place: 'command line', key: /--\w+/.exec(quoted)?.[0] ?? quoted, problem: 'no value was given' });
  }
  if (error.code === 'commander.excessArguments') {
    const name = /got \d+: (.*)\.$/.exec(error.message)?.[1] ?? '';
    return new AssayError('ARGUMENT_UNKNOWN', { what: 'argument', name, nearest: 'Every value belongs to a flag; tasks are given with --tasks.' });
  }
  const problem = error.message.replace(/^error: /, '');
  return new AssayError('CONFIG_VALUE', { place: 'command line', key: command?.name() ?? 'assay', problem });
}
