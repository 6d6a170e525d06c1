import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfigText, readConfigFile } from './config-file.ts';

let folder: string;
beforeAll(async () => { folder = await mkdtemp(join(tmpdir(), 'assay-config-')); });
afterAll(() => rm(folder, { recursive: true }));

const parse = (text: string) => parseConfigText(text, 'c.yaml');

test('a key given twice is an error with both lines, at any depth, in YAML and in JSON', () => {
  expect(() => parse('a: 1\nb: 2\na: 3\n')).toThrow('c.yaml:3:1: "a" is given twice: on line 1 and on line 3');
  expect(() => parse('m:\n  x: 1\n  y: 2\n  x: 3\n')).toThrow('c.yaml:4:3: "x" is given twice: on line 2 and on line 4');
  expect(() => parse('{"a":1,"a":2}')).toThrow('c.yaml:1:8: "a" is given twice');
  expect(() => parse('l:\n  - {k: 1, k: 2}\n')).toThrow('"k" is given twice');
});

test('YAML 1.1 words are booleans, as for lm_eval; quoted ones are texts', () => {
  expect(parse('a: no\nb: off\nc: "no"\nd: yes\n').values).toEqual({ a: false, b: false, c: 'no', d: true });
});

test('every value has its place, through anchors and merges too', () => {
  const file = parse('base: &b {x: 1}\nmine:\n  <<: *b\n  y: [1, 2]\n');
  expect(file.values).toEqual({ base: { x: 1 }, mine: { x: 1, y: [1, 2] } });
  expect(file.placeOf(['mine', 'y', 1])).toBe('c.yaml:4:10');
  expect(file.placeOfKey(['mine', 'y'])).toBe('c.yaml:4:3');
  expect(file.placeOf(['mine', 'x'])).toBe('c.yaml:3:3');
});

test('the text of a number is kept, so that 1.0 can be told from 1', () => {
  const file = parse('a: 1.0\nb: "1.0"\n');
  expect([file.textOf(['a']), file.textOf(['b'])]).toEqual(['1.0', undefined]);
});

test.each([
  ['a: [1\nb: 2\n', /^c\.yaml:\d+:\d+: /],
  ['- a\n', 'expected a mapping of keys at the top of the file'],
  ['just text\n', 'expected a mapping'],
  ['\ta: 1\n', /c\.yaml:1:/],
])('%j is refused with its place', (text, message) => {
  expect(() => parse(text)).toThrow(message);
});

test('an empty file sets nothing', () => {
  expect(parse('').values).toEqual({});
  expect(parse('# nothing\n').values).toEqual({});
});

test('a bomb of aliases is refused', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]', ...Array.from({ length: 8 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`)];
  expect(() => parse(lines.join('\n'))).toThrow('c.yaml: ');
});

test('a missing file, a folder and a file of bytes are refused by name', async () => {
  await writeFile(join(folder, 'bytes.yaml'), Buffer.from([0xff, 0xfe, 0x61]));
  expect(() => readConfigFile(join(folder, 'none.yaml'), folder)).toThrow('none.yaml: no such file');
  expect(() => readConfigFile(folder, '/')).toThrow('is a folder');
  expect(() => readConfigFile(join(folder, 'bytes.yaml'), folder)).toThrow('bytes.yaml: is not UTF-8 text');
});

test('a byte order mark is dropped', async () => {
  await writeFile(join(folder, 'bom.yaml'), '\uFEFFlimit: 3\n');
  expect(readConfigFile(join(folder, 'bom.yaml'), folder).values).toEqual({ limit: 3 });
});
