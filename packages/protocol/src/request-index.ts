// requests/index.bin: fixed little-endian columns, one value a request.
//
//   bytes 0-7   "ASSAYREQ"
//   bytes 8-11  u32 schema version (1)
//   bytes 12-15 u32 number of requests n
//   then        u64[n] tokenOffset (in tokens, into tokens.bin)
//   then        u32[n] each: task, ordinal, repeat, window, kind, contextTokens, continuationTokens, newTokenBudget,
//               prefixGroup, head, headTokens, parameterSet, truncatedTokens
//
// prefixGroup: requests with the same task and context share a number; numbers ascend in lexicographic order of the contexts'
// token ids. head: requests of a task that share their leading headTokens ids (the few-shot head); 0 where there is none.
//
// tokens.bin holds u32 ids; a request's prompt is contextTokens + continuationTokens ids from its offset.
import { describeDamage, refuseVersion, REQUEST_KINDS, type RequestKind, type RequestShape } from '@assay/domain';

export const INDEX_MAGIC = 'ASSAYREQ';
export const INDEX_VERSION = 1;
export const INDEX_COLUMNS = [
  'task', 'ordinal', 'repeat', 'window', 'kind', 'contextTokens', 'continuationTokens', 'newTokenBudget', 'prefixGroup',
  'head', 'headTokens', 'parameterSet', 'truncatedTokens',
] as const;
export type IndexColumn = (typeof INDEX_COLUMNS)[number];

const HEADER_BYTES = 16;

export interface RequestIndex {
  count: number;
  tokenOffset: BigUint64Array;
  columns: Readonly<Record<IndexColumn, Uint32Array>>;
}

/** Reads the columns of an index.bin. Throws RUN_VERSION for another version, RESULTS_DAMAGED where the size or a kind is off. */
export function parseRequestIndex(file: Uint8Array, path: string): RequestIndex {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const magic = Buffer.from(file.subarray(0, 8)).toString('latin1');
  if (magic !== INDEX_MAGIC) throw describeDamage(path, undefined, 'not a request index');
  const version = view.getUint32(8, true);
  if (version !== INDEX_VERSION) throw refuseVersion(path, { found: version, known: INDEX_VERSION });
  const count = view.getUint32(12, true);
  const expected = HEADER_BYTES + count * (8 + 4 * INDEX_COLUMNS.length);
  if (file.byteLength !== expected) throw describeDamage(path, undefined, `${file.byteLength} bytes where ${expected} belong`);
  // A copy starts at offset 0 of its own buffer, which typed arrays need for alignment. Not slice(): Buffer's gives a view.
  const body = new Uint8Array(file.subarray(HEADER_BYTES)).buffer;
  const tokenOffset = new BigUint64Array(body, 0, count);
  const column = (place: number) => new Uint32Array(body, count * 8 + place * count * 4, count);
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name, place) => [name, column(place)]));
  const strange = columns['kind']?.findIndex((kind) => REQUEST_KINDS[kind] === undefined) ?? -1;
  if (strange !== -1) throw describeDamage(path, undefined, `row ${strange} has an unknown request kind`);
  return { count, tokenOffset, columns: columns as RequestIndex['columns'] };
}

/** One request's shape, for planning. */
export function requestShapeAt(index: RequestIndex, row: number): RequestShape {
  const at = (name: IndexColumn) => index.columns[name][row] as number;
  return {
    row,
    task: at('task'),
    kind: REQUEST_KINDS[at('kind')] as RequestKind,
    contextTokens: at('contextTokens'),
    continuationTokens: at('continuationTokens'),
    newTokenBudget: at('newTokenBudget'),
    prefixGroup: at('prefixGroup'),
    head: at('head'),
    headTokens: at('headTokens'),
  };
}
