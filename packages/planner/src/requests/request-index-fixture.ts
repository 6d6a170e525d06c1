// Builds request indexes for tests from a few fields a request; everything else gets a plain value.
import { type RequestKind } from '@assay/domain';
import { INDEX_COLUMNS, type IndexColumn, type RequestIndex } from '@assay/protocol';
import { kindNumber } from './request-lengths.ts';

export interface RequestFixture {
  kind?: RequestKind;
  task?: number;
  context: number;
  continuation?: number;
  budget?: number;
  group?: number;
  head?: number;
  headTokens?: number;
}

export function buildIndex(requests: readonly RequestFixture[]): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(requests.length)])) as Record<IndexColumn, Uint32Array>;
  requests.forEach((request, row) => {
    const kind = request.kind ?? 'generate_until';
    columns.kind[row] = kindNumber(kind);
    columns.task[row] = request.task ?? 0;
    columns.ordinal[row] = row;
    columns.contextTokens[row] = request.context;
    columns.continuationTokens[row] = request.continuation ?? 0;
    columns.newTokenBudget[row] = request.budget ?? 0;
    columns.prefixGroup[row] = request.group ?? row;
    columns.head[row] = request.head ?? 0;
    columns.headTokens[row] = request.headTokens ?? 0;
  });
  return { count: requests.length, tokenOffset: new BigUint64Array(requests.length), columns };
}

/** As many as the largest node of these tests has devices: no replica is without one. */
export function fourAlike(request: RequestFixture): RequestIndex {
  return buildIndex(Array.from({ length: 4 }, () => request));
}
