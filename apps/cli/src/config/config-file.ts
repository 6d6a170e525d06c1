// Reads a --config file: values, and where each one stands. YAML 1.2 or JSON, with lm_eval's yes, no, on and off as booleans.
import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { AssayError } from '@assay/domain';
import { type Document, isAlias, isMap, isPair, isScalar, LineCounter, type Node, parseDocument, type ScalarTag } from 'yaml';
import { findDuplicateKey } from '../flags/duplicate-keys.ts';

export type KeyPath = readonly PropertyKey[];

export interface ConfigFile {
  path: string;
  values: Record<string, unknown>;
  /** "run.yaml:3:7" of the value at a path; of its nearest parent where the path is not written out. */
  placeOf(path: KeyPath): string;
  /** The same for a key itself. */
  placeOfKey(path: KeyPath): string;
  /** How a scalar is written, such as "1.0". */
  textOf(path: KeyPath): string | undefined;
}

/** YAML 1.1's words, which PyYAML still reads as booleans. */
const SWITCH_WORDS: ScalarTag[] = [[true, /^(?:yes|on)$/i], [false, /^(?:no|off)$/i]].map(([value, test]) => ({
  tag: 'tag:yaml.org,2002:bool', default: true, test: test as RegExp, resolve: () => value,
}));

export function readConfigFile(path: string, cwd: string): ConfigFile {
  const shown = relative(cwd, path).startsWith('..') ? path : relative(cwd, path);
  return parseConfigText(readText(path, shown), shown);
}

function readText(path: string, shown: string): string {
  try {
    // One that never ends, such as /dev/zero. A pipe is fine: shells pass files so.
    if (statSync(path).isCharacterDevice()) throw new AssayError('CONFIG_SYNTAX', { place: shown, problem: 'is a device' });
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (thrown) {
    if (thrown instanceof AssayError) throw thrown;
    const code = (thrown as NodeJS.ErrnoException).code;
    const problem = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'is a folder' : code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8 text' : String(code ?? thrown);
    throw new AssayError('CONFIG_SYNTAX', { place: shown, problem }, { cause: thrown });
  }
}

export function parseConfigText(text: string, shown: string): ConfigFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: false, merge: true, customTags: (tags) => [...SWITCH_WORDS, ...tags], prettyErrors: false });
  const placeAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${shown}:${line}:${col}`;
  };
  const refuse = (place: string, problem: string) => new AssayError('CONFIG_SYNTAX', { place, problem });
  const [error] = document.errors;
  if (error) throw refuse(placeAt(error.pos[0]), error.message.split('\n')[0] ?? '');
  const duplicate = findDuplicateKey(document.contents);
  if (duplicate) {
    const firstLine = lineCounter.linePos(duplicate.first).line;
    throw refuse(placeAt(duplicate.second), `"${duplicate.key}" is given twice: on line ${firstLine} and on line ${lineCounter.linePos(duplicate.second).line}`);
  }
  const values = toValues(document, (problem) => refuse(shown, problem));
  const offsetOf = (path: KeyPath, part: 'key' | 'value') => findOffset(document, path, part);
  return {
    path: shown,
    values,
    placeOf: (path) => placeAt(offsetOf(path, 'value')),
    placeOfKey: (path) => placeAt(offsetOf(path, 'key')),
    textOf: (path) => {
      const node = document.getIn(path as unknown[], true);
      return isScalar(node) && typeof node.source === 'string' && node.type === 'PLAIN' ? node.source : undefined;
    },
  };
}

function toValues(document: Document, refuse: (problem: string) => AssayError): Record<string, unknown> {
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    throw refuse((thrown as Error).message);
  }
  if (values === null || values === undefined) return {};
  if (typeof values !== 'object' || Array.isArray(values)) throw refuse('expected a mapping of keys at the top of the file');
  return values as Record<string, unknown>;
}

/** Follows the path as far as it is written; the rest may come from an alias or a merge. */
function findOffset(document: Document, path: KeyPath, part: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const [depth, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const pair = isMap(node) ? node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step)) : undefined;
    const next = pair ? pair.value : isMap(node) ? undefined : getItem(node, step);
    const isLast = depth === path.length - 1;
    const found = pair && isLast && part === 'key' ? pair.key : next;
    const start = (found as Node | null | undefined)?.range?.[0] ?? (pair?.key as Node | undefined)?.range?.[0];
    if (start === undefined) return offset;
    offset = start;
    node = next;
  }
  return offset;
}

function getItem(node: unknown, step: PropertyKey): unknown {
  const items = (node as { items?: unknown[] } | null)?.items;
  return typeof step === 'number' ? items?.[step] : undefined;
}
