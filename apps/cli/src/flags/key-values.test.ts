import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { python } from '../../../../test/support/environment.ts';
import { requireOrSkip } from '../../../../test/support/requirements.ts';
import { FormProblem, parseFlagValue, parseKeyValues, parseTextValue, splitTopLevel } from './key-values.ts';

// Left: the text. Right: what lm_eval 0.4.13's handle_cli_value_string makes of it.
test.each([
  ['true', true], ['False', false], ['5', 5], ['007', 7], ['0.5', 0.5], ['-1', -1], ['1e-3', 0.001], ['1_000', 1000], ['None', null], ['none', 'none'],
  ['[1,2]', [1, 2]], ['["a", \'b\']', ['a', 'b']], ['(1, 2)', [1, 2]], ['(1)', 1], ['{"a": [1]}', { a: [1] }], ['\'5\'', '5'], ['bfloat16', 'bfloat16'],
  ['a b', 'a b'], ['', ''], ['[1', '[1'], ['\\n\\n', '\\n\\n'], ['["\\n\\n"]', ['\n\n']], ['./models/x', './models/x'], ['0|1', '0|1'], ['1.2.3', '1.2.3'],
])('the flag value %s is %j', (text, value) => {
  expect(parseFlagValue(text)).toEqual(value);
});

// The older rule, for texts inside a file: lm_eval's handle_arg_string.
test.each([
  ['none', null], ['"123"', '123'], ['-1', -1], ['[1,2]', '[1,2]'], ['TRUE', true], ['1e3', 1000], [' x ', 'x'],
])('the text value %s is %j', (text, value) => {
  expect(parseTextValue(text)).toEqual(value);
});

test('commas inside brackets, braces and quotes do not separate', () => {
  expect(splitTopLevel('a=[1,2],b={"x":1,"y":2},c="p,q",d=3')).toEqual(['a=[1,2]', 'b={"x":1,"y":2}', 'c="p,q"', 'd=3']);
});

test('a value may hold an equals sign', () => {
  expect(parseKeyValues('pretrained=/m/a=b,dtype=float32')).toEqual({ pretrained: '/m/a=b', dtype: 'float32' });
});

test('a part without an equals sign, and a key given twice, are refused', () => {
  expect(() => parseKeyValues('pretrained')).toThrow(FormProblem);
  expect(() => parseKeyValues('a=1,a=2')).toThrow('"a" is given twice');
});

const TEXTS = [
  'true', 'FALSE', 'yes', '5', '-5', '+5', '007', '0.5', '.5', '5.', '1e-3', '1_000', '1__0', 'None', 'none', '[1, 2]', '[1, [2, "x"]]', '("a",)', '(1)', '()',
  "{'a': None}", '"5"', "'x'", 'a"b', '\\n', '["\\n\\n"]', '0|1', '1.2.3', 'auto', '/a/b-c', '<|im_end|>', '[a]', '{a}', '[1', ' 5 ', '12e', '-', '1e400x',
];

describe('lm_eval itself', () => {
  requireOrSkip('the Python environment', python !== 'python3', 'lm_eval is in it; `npm run setup` makes it');

  test('reads these values alike', () => {
    const output = execFileSync(python, [join(import.meta.dirname, 'parse-lm-eval-values.py'), JSON.stringify(TEXTS)], { encoding: 'utf8' });
    const theirs = JSON.parse(output) as { flag: unknown[]; text: unknown[] };
    expect(TEXTS.map((text) => [text, parseFlagValue(text)])).toEqual(TEXTS.map((text, place) => [text, theirs.flag[place]]));
    expect(TEXTS.map((text) => [text, parseTextValue(text)])).toEqual(TEXTS.map((text, place) => [text, theirs.text[place]]));
  }, 60_000);
});
