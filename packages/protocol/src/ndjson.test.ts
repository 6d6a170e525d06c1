import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeLine, LineSplitter } from './ndjson.ts';

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut into chunks', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 }), (values, sizes) => {
        const bytes = Buffer.from(values.map(encodeLine).join(''), 'utf8');
        expect(splitInChunks(bytes, sizes).lines.map((line) => JSON.parse(line) as unknown)).toEqual(values);
      }),
    );
  });

  it('keeps an unfinished line for the next chunk and shows it as the rest', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('{"a":1}\n{"b"'))).toEqual(['{"a":1}']);
    expect(splitter.rest()).toBe('{"b"');
    expect(splitter.push(Buffer.from(':2}\n'))).toEqual(['{"b":2}']);
    expect(splitter.rest()).toBe('');
  });

  it('ends a record at "\\n" only, not at other line separators of Unicode', () => {
    const text = 'a\u2028b\u2029c\u0085d\ve\ff\r';
    expect(new LineSplitter().push(Buffer.from(encodeLine(text)))).toEqual([JSON.stringify(text)]);
  });
});

function splitInChunks(bytes: Buffer, sizes: readonly number[]): { lines: string[] } {
  const splitter = new LineSplitter();
  const lines: string[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    lines.push(...splitter.push(bytes.subarray(start, start + size)));
    start += size;
  }
  return { lines };
}
