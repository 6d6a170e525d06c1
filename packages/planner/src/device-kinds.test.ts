import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEVICE_KINDS } from './device-kinds.ts';

const page = readFileSync(new URL('../../../docs/planning.md', import.meta.url), 'utf8');
const number = (cell: string | undefined) => Number(cell?.replaceAll(',', ''));

test('docs/planning.md has the figures of every kind, and of no other', () => {
  const rows = page.slice(page.indexOf('## Device kinds')).split('\n').filter((line) => /^\| `\w[\w-]+` \|/.test(line)).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
  expect(rows.map(([name]) => name?.replaceAll('`', ''))).toEqual(DEVICE_KINDS.map(({ name }) => name));
  for (const [place, [, mib, gib, gigabytes, bits16, bits8, link]] of rows.entries()) {
    const kind = DEVICE_KINDS[place]!;
    expect(number(mib) * 2 ** 20).toBe(kind.memoryBytes);
    expect(number(gib)).toBeCloseTo(kind.memoryBytes / 2 ** 30, 0);
    expect(number(gigabytes)).toBeCloseTo(kind.bytesPerSecond / 1e9, 6);
    expect(number(bits16)).toBeCloseTo(kind.flops.bits16 / 1e12, 6);
    expect(bits8 === 'none' ? undefined : number(bits8)).toBe(kind.flops.bits8 && Math.round(kind.flops.bits8 / 1e11) / 10);
    const inLink = number(link?.replace(/^PCIe \d, |^NVLink /, ''));
    expect(link).toContain(kind.link.name);
    expect(inLink * (kind.link.name === 'NVLink' ? 0.5 : 1)).toBeCloseTo(kind.link.bytesPerSecond / 1e9, 6);
  }
});
