// From the command line to values by key. The one rule of spelling: in flags, dashes and underscores are the same.
import { AssayError, type RunConfig, suggestNearest } from '@assay/domain';
import { type Command, Option } from 'commander';
import type { FlagEntry } from './flag-entry.ts';
import { FLAGS, isFlagText } from './flag-table.ts';
import { FormProblem } from './key-values.ts';
import { type FlagTexts, PARSE_RULES } from './parse-rules.ts';

export interface GivenFlags {
  configFile: string | undefined;
  values: Partial<Record<keyof RunConfig, unknown>>;
  /** Level for LMEVAL_LOG_LEVEL. */
  verbosity: string | undefined;
  notes: string[];
}

/** "--num-fewshot=5" → "--num_fewshot=5"; everything after "--" stays as it is. */
export function spellFlags(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((text, place) => {
    const match = /^--([a-z][\w-]*)(=.*)?$/is.exec(text);
    if (!match || (end !== -1 && place > end)) return text;
    return `--${match[1]?.replaceAll('-', '_')}${match[2] ?? ''}`;
  });
}

/** Adds every flag of the table to a command. Values stay text until readFlags. */
export function addConfigFlags(command: Command, describe: (entry: FlagEntry) => string): void {
  for (const entry of FLAGS) command.addOption(buildOption(entry, describe(entry)));
}

const BRACKETS = { one: '<_>', optional: '[_]', many: '<_...>' } as const;

function buildOption(entry: FlagEntry, description: string): Option {
  const value = BRACKETS[entry.arity].replace('_', entry.value);
  const short = entry.short === undefined ? '' : `-${entry.short}, `;
  const option = new Option(`${short}--${entry.flag} ${value}`, description);
  if (entry.status === 'refused') option.hideHelp();
  option.helpGroup(entry.origin === 'lm_eval' ? 'As in lm_eval:' : 'Ours:');
  return option.argParser((text: string, before: unknown) => [...(Array.isArray(before) ? before : []), text]);
}

export function readFlags(given: Record<string, unknown>): GivenFlags {
  const result: GivenFlags = { configFile: undefined, values: {}, verbosity: undefined, notes: [] };
  for (const entry of FLAGS) {
    const raw = given[entry.flag];
    if (raw !== undefined) readFlag(entry, raw, result);
  }
  return result;
}

function readFlag(entry: FlagEntry, raw: unknown, result: GivenFlags): void {
  const name = `--${entry.flag}`;
  if (entry.status === 'refused') throw new AssayError('FLAG_REFUSED', { flag: name, reason: entry.reason ?? '', instead: entry.instead ?? '' });
  const texts: FlagTexts = { texts: Array.isArray(raw) ? raw : [], bare: raw === true };
  const value = parseTexts(entry, texts);
  if (entry.arity !== 'many' && texts.texts.length > 1) result.notes.push(`${name} is given ${texts.texts.length} times; the last one counts: ${texts.texts.at(-1)}`);
  if (entry.key !== undefined) result.values[entry.key] = value;
  else if (entry.flag === 'config') result.configFile = String(value);
  else if (entry.flag === 'verbosity') result.verbosity = String(value).toUpperCase();
  else result.notes.push(`${name}: ${entry.note}`);
}

function parseTexts(entry: FlagEntry, given: FlagTexts): unknown {
  const refuse = (problem: string) => new AssayError('CONFIG_VALUE', { place: 'command line', key: `--${entry.flag}`, problem });
  const swallowed = given.texts.find(isFlagText);
  if (swallowed !== undefined) throw refuse(`no value was given (next came ${swallowed})`);
  try {
    return PARSE_RULES[entry.rule](given);
  } catch (thrown) {
    if (thrown instanceof FormProblem) throw refuse(thrown.message);
    throw thrown;
  }
}

/** The error for a flag that nobody knows; `also` are the command's own flags. */
export function buildUnknownFlag(flag: string, also: readonly string[]): AssayError {
  const known = [...FLAGS.filter((entry) => entry.status !== 'refused').map((entry) => entry.flag), ...also];
  const name = flag.replace(/^-+/, '');
  const positive = /^no_(\w+)$/.exec(name)?.[1];
  const switched = FLAGS.find((entry) => entry.flag === positive && entry.rule === 'boolean');
  const nearest = switched
    ? `Write --${switched.flag} false.`
    : suggestNearest(name, known, 'See `assay run --help` for the flags there are.').replace(/\b(\w+)(?=, | or |\?)/g, (word) => (known.includes(word) ? `--${word}` : word));
  return new AssayError('FLAG_UNKNOWN', { flag, nearest });
}
