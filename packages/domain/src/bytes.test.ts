import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBytes, parseBytes } from './bytes.ts';

describe('sizes', () => {
  test.each([
    ['5GiB', 5 * 2 ** 30], ['5 gib', 5 * 2 ** 30], ['80GB', 80e9], ['1.5 MiB', 1.5 * 2 ** 20], ['512', 512], [' 7 b ', 7], ['1TiB', 2 ** 40], ['2kb', 2000],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes);
  });

  test('a number is taken as bytes', () => {
    expect(parseBytes(1024)).toBe(1024);
  });

  test.each(['', 'GiB', '-1GiB', '5 GiBs', '5.GiB', '1e3', '5 G', 'constructor', '1 constructor', '٥GiB'])('"%s" is refused', (text) => {
    expect(() => parseBytes(text)).toThrow(/expected a size such as 5GiB or 80GB/);
  });

  test('a size beyond every machine is refused', () => {
    expect(() => parseBytes('99999999999999999999GiB')).toThrow(/more than any machine has/);
  });

  test('reading back what was written loses less than one unit of its last digit', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 50 }), (bytes) => {
      expect(Math.abs(parseBytes(formatBytes(bytes)) - bytes)).toBeLessThanOrEqual(bytes * 0.01);
    }));
  });

  test.each([[0, '0 B'], [1023, '1023 B'], [1536, '1.50 KiB'], [1610612736, '1.50 GiB'], [11 * 2 ** 30, '11.0 GiB']])('%d reads %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
