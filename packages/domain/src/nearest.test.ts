import { expect, test } from 'vitest';
import { countEdits, findNearest, findNearPaths, suggestNearest } from './nearest.ts';

test.each([
  ['', '', 0], ['abc', '', 3], ['kitten', 'sitting', 3], ['tsaks', 'tasks', 1], ['limit', 'limit', 0],
] as const)('%s and %s are %i edits apart', (left, right, edits) => {
  expect(countEdits(left, right)).toBe(edits);
  expect(countEdits(right, left)).toBe(edits);
});

test('dashes count as underscores', () => {
  expect(findNearest('num-fewshot', ['num_fewshot', 'limit'])).toEqual(['num_fewshot']);
});

test('a known name inside the given one is near, whatever was put in front', () => {
  expect(findNearest('eval-batch-size', ['batch_size', 'limit', 'max_batch_size'])[0]).toBe('batch_size');
});

test('nothing near gives the other advice', () => {
  expect(suggestNearest('zzzz', ['limit', 'tasks'], 'See the list.')).toBe('See the list.');
  expect(suggestNearest('lmit', ['limit', 'limits'], '')).toBe('Did you mean limit or limits?');
});

test.each([
  ['nope', ['home', 'root', 'node'], ['node']],
  ['data', ['dev', 'etc', 'metadata', 'daten'], []],
  ['modle', ['model', 'noodle'], ['model']],
  ['smollm2', ['smollm2-135m', 'gpt2', 'my-smollm2-copy'], ['smollm2-135m']],
  ['assay-world-a1b2c3', ['assay-world-x9y8z7'], []],
])('beside the path %s, of %j only %j are near', (name, known, near) => expect(findNearPaths(name, known)).toEqual(near));
