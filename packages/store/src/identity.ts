// What makes two runs the same: their settings before anything is loaded, their semantic and numeric identity once known.
import { createHash } from 'node:crypto';
import { redactSecrets } from '@assay/domain';

export type JsonObject = Readonly<Record<string, unknown>>;

interface Difference {
  /** Dotted, as in model_args.dtype. */
  field: string;
  was: unknown;
  now: unknown;
}

/** Keys of the configuration that say where or how long, not what: a run resumes whatever they are. */
export const KEYS_OUTSIDE_IDENTITY = [
  'output_path', 'metrics', 'log_samples', 'run_timeout', 'request_timeout', 'stall_timeout', 'max_tries', 'waive_coverage', 'probe', 'limits',
  'device', 'include_path', 'plan.data',
] as const;

/** The settings that belong to a run, from its composed configuration, without secrets: a new token does not make a new run. */
export function selectRunSettings(config: object): JsonObject {
  const settings = redactSecrets(JSON.parse(JSON.stringify(config)) as Record<string, unknown>);
  for (const key of KEYS_OUTSIDE_IDENTITY) deletePath(settings, key.split('.'));
  return settings;
}

/** One text for one value: keys in order, undefined left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, entry: unknown) => (
    isObject(entry) ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1))) : entry
  ));
}

/** sha256 over the canonical text, in hex. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** Field by field, in order of the names. A field that only one side has is a difference too. */
export function compareIdentities(was: unknown, now: unknown): Difference[] {
  return listDifferences(was, now, '');
}

/** For people, a few at most: "seed.python: 1 → 2; limit: none → 10". */
export function formatDifferences(differences: readonly Difference[], most = 8): string {
  const shown = differences.slice(0, most).map(({ field, was, now }) => `${field}: ${show(was)} → ${show(now)}`);
  const more = differences.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function listDifferences(was: unknown, now: unknown, field: string): Difference[] {
  if (isObject(was) && isObject(now)) {
    const names = [...new Set([...Object.keys(was), ...Object.keys(now)])].sort();
    return names.flatMap((name) => listDifferences(readOwn(was, name), readOwn(now, name), field === '' ? name : `${field}.${name}`));
  }
  return canonicalJson(was) === canonicalJson(now) ? [] : [{ field, was, now }];
}

/** A mapping's own entry: "constructor" is a name like any other. */
function readOwn(mapping: JsonObject, name: string): unknown {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}

function deletePath(target: Record<string, unknown>, [name, ...rest]: string[]): void {
  if (name === undefined) return;
  const entry = target[name];
  if (rest.length === 0) delete target[name];
  else if (isObject(entry)) deletePath(entry as Record<string, unknown>, rest);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (value === undefined) return 'none';
  const text = typeof value === 'string' ? value : canonicalJson(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
