import { expect, test } from 'vitest';
import { escapeControls } from './printable.ts';

test.each([
  ['plain, ünïcode ✓', 'plain, ünïcode ✓'],
  ['red \u001B[31m text', 'red \\u001b[31m text'],
  ['a\nb\tc', 'a\\nb\\tc'],
  ['\u009B2J and \u2028', '\\u009b2J and \\u2028'],
])('%j is shown without its power over a terminal', (text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test('what is layout stays', () => {
  expect(escapeControls('a\nb\r', '\n')).toBe('a\nb\\r');
});
