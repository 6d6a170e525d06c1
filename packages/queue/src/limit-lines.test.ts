import { expect, test } from 'vitest';
import { limitLines } from './limit-lines.ts';

test('lines that repeat are cut to five in ten seconds, and the next window says how many are missing', () => {
  let nowMs = 0;
  const lines: [object, string][] = [];
  const write = limitLines((fields, message) => lines.push([fields, message]), () => nowMs);
  for (let line = 0; line < 1_000; line += 1) write({}, 'again');
  expect(lines).toHaveLength(5);
  nowMs = 10_000;
  write({}, 'again');
  expect(lines.slice(5)).toEqual([[{ leftOut: 995 }, 'lines like the next were left out'], [{}, 'again']]);
});
