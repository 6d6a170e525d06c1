import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PARSE_RULES, type RuleName } from './parse-rules.ts';

const parse = (rule: RuleName, ...texts: string[]) => PARSE_RULES[rule]({ texts, bare: false });
const bare = (rule: RuleName) => PARSE_RULES[rule]({ texts: [], bare: true });

let folder: string;
beforeAll(async () => { folder = await mkdtemp(join(tmpdir(), 'assay-rules-')); });
afterAll(() => rm(folder, { recursive: true }));

test.each(['1.0', '1.', '1.00', '+1.0', '1e0', '1.0e0'])('a limit of %s is refused: one document, or all?', (text) => {
  expect(() => parse('limit', text)).toThrow('one document or all');
});

test.each([['1', 1], ['5', 5], ['0.1', 0.1], ['10', 10], ['10.0', 10], ['0', 0]] as const)('a limit of %s is the number %d', (text, value) => {
  expect(parse('limit', text)).toBe(value);
});

test.each([['true', true], ['YES', true], ['1', true], ['on', true], ['off', false], ['false', false], ['No', false], ['0', false]] as const)('the switch value %s is %s', (text, value) => {
  expect(parse('boolean', text)).toBe(value);
});

test('a bare switch is on, and any other word is refused', () => {
  expect(bare('boolean')).toBe(true);
  expect(() => parse('boolean', 'flase')).toThrow('expected true or false');
});

test('a chat template is a switch or a name', () => {
  expect([bare('booleanOrText'), parse('booleanOrText', 'False'), parse('booleanOrText', 'rag')]).toEqual([true, false, 'rag']);
});

test('tasks may be separated by commas or given one by one', () => {
  expect(parse('list', 'a,b', 'c', ' d , ')).toEqual(['a', 'b', 'c', 'd']);
});

test('mappings merge over values and JSON, the later winning', () => {
  expect(parse('mapping', 'a=1,b=x', '{"b": "y", "c": [1]}', 'd=2.5')).toEqual({ a: 1, b: 'y', c: [1], d: 2.5 });
  expect(() => parse('mapping', '{"a": 1,}')).toThrow('not valid JSON');
  expect(() => parse('mapping', '{"a":{"b":1,"b":2}}')).toThrow('"b" is there twice: at 1:7 and 1:13');
});

test.each([
  ['7', { python: 7, numpy: 7, torch: 7, fewshot: 7 }],
  ['1,2,3,4', { python: 1, numpy: 2, torch: 3, fewshot: 4 }],
  ['1, 2, 3', { python: 1, numpy: 2, torch: 3, fewshot: 1234 }],
])('the seed %s fills four generators', (text, seeds) => {
  expect(parse('seed', text)).toEqual(seeds);
});

test.each(['None', '0,None,8,52', '1,2', 'x'])('the seed %s is refused', (text) => {
  expect(() => parse('seed', text)).toThrow(/None leaves|expected/);
});

test('samples come as JSON or from a file', async () => {
  const path = join(folder, 'samples.json');
  await writeFile(path, '{"task": [0, 2]}');
  expect(parse('samples', '{"task": [0, 2]}')).toEqual({ task: [0, 2] });
  expect(parse('samples', path)).toEqual({ task: [0, 2] });
  expect(() => parse('samples', join(folder, 'none.json'))).toThrow('neither JSON');
});

test('a plan is auto or a mapping, a batch size a number or auto:N', () => {
  expect([parse('plan', 'auto'), parse('plan', 'data=2,tensor=1')]).toEqual(['auto', { data: 2, tensor: 1 }]);
  expect([parse('batchSize', '8'), parse('batchSize', 'auto:4')]).toEqual([8, 'auto:4']);
});
