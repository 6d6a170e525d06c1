import { expect, test } from 'vitest';
import { runConfigSchema } from './config.ts';
import { describeFormAt, listConfigKeys } from './config-forms.ts';

test('every key has a description and a form', () => {
  const keys = listConfigKeys().flatMap((key) => [key, ...key.fields]);
  expect(listConfigKeys().map(({ key }) => key)).toEqual(Object.keys(runConfigSchema.shape));
  const seedKeys = Object.keys(runConfigSchema.parse({}).seed);
  expect(keys.filter(({ key, description }) => description === '' && !seedKeys.includes(key))).toEqual([]);
  expect(keys.filter(({ form }) => form === 'anything')).toEqual([]);
});

test.each([
  [['probe'], 'true or false'],
  [['num_fewshot'], 'a whole number of 0 or more'],
  [['determinism'], 'fast, strict or isolated'],
  [['plan', 'data'], 'a whole number above 0'],
  [['limits', 'memory'], 'a size such as 5GiB'],
  [['samples', 'any', 3], 'a whole number of 0 or more'],
  [['tasks', 0], 'a text'],
  [['metrics'], 'HOST:PORT'],
] as const)('the form at %j is %s', (path, form) => {
  expect(describeFormAt(path)).toBe(form);
});

test('a place the schema does not know has no form', () => {
  expect(describeFormAt(['plan', 'nothing'])).toBeUndefined();
});

test.each([0, -1, 1.5, 2.5])('a limit of %s is refused', (limit) => {
  expect(runConfigSchema.safeParse({ limit }).success).toBe(false);
});

test('the text "false" is no template and never true', () => {
  expect(runConfigSchema.safeParse({ apply_chat_template: 'false' }).success).toBe(false);
  expect(runConfigSchema.safeParse({ apply_chat_template: 'True' }).success).toBe(false);
  expect(runConfigSchema.parse({ apply_chat_template: 'rag' }).apply_chat_template).toBe('rag');
});
