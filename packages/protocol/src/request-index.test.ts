import { AssayError, REQUEST_KINDS } from '@assay/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INDEX_COLUMNS, INDEX_MAGIC, INDEX_VERSION, parseRequestIndex, requestShapeAt, type IndexColumn } from './request-index.ts';

type Row = Partial<Record<IndexColumn, number>> & { tokenOffset?: bigint };

describe('parseRequestIndex', () => {
  it('reads back every column of every row', () => {
    const value = fc.nat(0xffffffff);
    const kind = fc.nat(REQUEST_KINDS.length - 1);
    const rows = fc.array(fc.record(Object.fromEntries(INDEX_COLUMNS.map((name) => [name, name === 'kind' ? kind : value]))) as unknown as fc.Arbitrary<Row>);
    fc.assert(
      fc.property(rows, (written) => {
        const index = parseRequestIndex(writeIndex(written), 'index.bin');
        expect(index.count).toBe(written.length);
        for (const name of INDEX_COLUMNS) expect([...index.columns[name]]).toEqual(written.map((row) => row[name]));
      }),
    );
  });

  it('reads offsets beyond four thousand million tokens', () => {
    const index = parseRequestIndex(writeIndex([{ tokenOffset: 1n << 40n }]), 'index.bin');
    expect([...index.tokenOffset]).toEqual([1n << 40n]);
  });

  it('reads from a view that is not aligned', () => {
    const file = writeIndex([{ task: 7 }]);
    const shifted = new Uint8Array(file.length + 3);
    shifted.set(file, 3);
    expect([...parseRequestIndex(shifted.subarray(3), 'index.bin').columns.task]).toEqual([7]);
  });

  it.each([
    ['a file of something else', Buffer.from('GGUF0000\0\0\0\0\0\0\0\0')],
    ['a file that is cut short', writeIndex([{}, {}]).subarray(0, -1)],
    ['a file with something behind it', Buffer.concat([writeIndex([{}]), Buffer.alloc(4)])],
    ['a kind that does not exist', writeIndex([{}, { kind: 3 }])],
  ])('refuses %s as damage to that file, and says that it can be made again', (_, file) => {
    const path = '/runs/a/requests/index.bin';
    const error = refusalOf(() => parseRequestIndex(file, path));
    expect(error).toMatchObject({ code: 'RESULTS_DAMAGED', message: expect.stringContaining(`${path}: `), remedy: expect.stringContaining('makes it again') });
  });

  it('refuses another schema version', () => {
    expect(refusalOf(() => parseRequestIndex(writeIndex([{}], INDEX_VERSION + 1), 'index.bin'))?.code).toBe('RUN_VERSION');
  });
});

describe('requestShapeAt', () => {
  it('names the kind and leaves out what planning does not need', () => {
    const index = parseRequestIndex(writeIndex([{}, { task: 3, kind: 2, contextTokens: 90, newTokenBudget: 16, head: 1, headTokens: 40 }]), 'x');
    expect(requestShapeAt(index, 1)).toEqual({
      row: 1, task: 3, kind: 'generate_until', contextTokens: 90, continuationTokens: 0, newTokenBudget: 16, prefixGroup: 0, head: 1, headTokens: 40,
    });
  });
});

function writeIndex(rows: readonly Row[], version: number = INDEX_VERSION): Buffer {
  const header = Buffer.alloc(16);
  header.write(INDEX_MAGIC, 'latin1');
  header.writeUInt32LE(version, 8);
  header.writeUInt32LE(rows.length, 12);
  const offsets = Buffer.from(BigUint64Array.from(rows, (row) => row.tokenOffset ?? 0n).buffer);
  const columns = INDEX_COLUMNS.map((name) => Buffer.from(Uint32Array.from(rows, (row) => row[name] ?? 0).buffer));
  return Buffer.concat([header, offsets, ...columns]);
}

function refusalOf(action: () => unknown): AssayError | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof AssayError) return error;
    throw error;
  }
  return undefined;
}
