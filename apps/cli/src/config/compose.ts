// Composes a run's configuration: defaults < --config file < flags, key by key. As in lm_eval a flag replaces the file's
// whole value, mappings included. Every value remembers where it came from.
import { AssayError, listConfigKeys, type RunConfig, runConfigSchema } from '@assay/domain';
import type { GivenFlags } from '../flags/read-flags.ts';
import { checkInnerKeys, checkTopKeys } from './check-keys.ts';
import type { ConfigFile, KeyPath } from './config-file.ts';
import { describeIssue } from './describe-issue.ts';
import { finishConfig } from './finish-config.ts';
import { normaliseFile } from './normalise-file.ts';

/** Key → "default", "not set", "run.yaml:3:1" or "--limit". */
export type Provenance = Record<string, string>;

export interface Composed {
  config: RunConfig;
  provenance: Provenance;
  /** For people: what an accepted value becomes, what was merged. */
  notes: string[];
}

interface ComposeInput {
  flags: GivenFlags;
  file: ConfigFile | undefined;
  cwd: string;
}

export function composeConfig({ flags, file, cwd }: ComposeInput): Composed {
  const fromFile = file ? readFileLayer(file) : {};
  const merged: Record<string, unknown> = { ...fromFile, ...flags.values };
  const placeOf = (path: KeyPath): string => {
    const key = String(path[0]);
    return Object.hasOwn(flags.values, key) || !file ? 'command line' : file.placeOf(path);
  };
  checkInnerKeys(merged, (path) => (Object.hasOwn(flags.values, String(path[0])) || !file ? `command line: --${String(path[0])}` : file.placeOfKey(path)));
  const parsed = runConfigSchema.safeParse(merged);
  if (!parsed.success) {
    const issue = describeIssue(parsed.error, merged);
    const key = placeOf(issue.path) === 'command line' ? `--${issue.path.join('.')}` : issue.path.join('.');
    throw new AssayError('CONFIG_VALUE', { place: placeOf(issue.path), key, problem: issue.problem });
  }
  const notes = [...flags.notes, ...noteReplacedMappings(flags, fromFile)];
  const finished = finishConfig(parsed.data, { cwd, placeOf, isGiven: (key) => Object.hasOwn(merged, key) });
  return { config: finished.config, provenance: buildProvenance(flags, fromFile, file), notes: [...notes, ...finished.notes] };
}

function readFileLayer(file: ConfigFile): Record<string, unknown> {
  checkTopKeys(file);
  return normaliseFile(file);
}

function noteReplacedMappings(flags: GivenFlags, fromFile: Record<string, unknown>): string[] {
  return Object.keys(flags.values).flatMap((key) => {
    const before = fromFile[key];
    if (before === null || typeof before !== 'object' || Array.isArray(before)) return [];
    const lost = Object.keys(before).filter((inner) => !Object.hasOwn((flags.values as Record<string, object>)[key] ?? {}, inner));
    return lost.length === 0 ? [] : [`--${key} replaces the file's ${key}, as in lm_eval: ${lost.join(', ')} of the file no longer counts`];
  });
}

function buildProvenance(flags: GivenFlags, fromFile: Record<string, unknown>, file: ConfigFile | undefined): Provenance {
  return Object.fromEntries(listConfigKeys().map(({ key }) => {
    if (Object.hasOwn(flags.values, key)) return [key, `--${key}`];
    if (file && Object.hasOwn(fromFile, key)) return [key, file.placeOfKey([key])];
    return [key, isOptional(key) ? 'not set' : 'default'];
  }));
}

const isOptional = (key: string): boolean => runConfigSchema.shape[key as keyof RunConfig].safeParse(undefined).data === undefined;
