// The set-up runs on a bare machine: built-in modules only, every Python package pinned once, and settings named in one file.
import { builtinModules } from 'node:module';
import { expect, test } from 'vitest';
import { isTest, readFile, readSources } from '../support/source-tree.ts';
import { readImports } from './imports.ts';

const readPins = (name: string): Map<string, string> => new Map(
  readFile(name).text.split('\n').filter((line) => /^[A-Za-z]/.test(line)).map((line) => {
    const [distribution = '', version = ''] = line.split('==');
    return [distribution.toLowerCase().replace(/[-_.]+/g, '-'), version];
  }),
);

test('the set-up imports only its own files and modules built into Node', () => {
  const foreign = readSources(/^setup\/.*\.mjs$/).filter(({ name }) => !isTest(name)).flatMap(readImports)
    .filter(({ specifier }) => !specifier.startsWith('./') && !builtinModules.includes(specifier.replace(/^node:/, '')));
  expect(foreign).toEqual([]);
});

test('every Python package has one exact version', () => {
  const lines = readFile('setup/constraints.txt').text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !/^[A-Za-z0-9._-]+==[0-9][\w.]*$/.test(line))).toEqual([]);
  expect(readPins('setup/constraints.txt').size).toBe(lines.length);
});

test('what is asked for by name has the version that the whole list has', () => {
  const all = readPins('setup/constraints.txt');
  const different = [...readPins('setup/requirements.txt')].filter(([name, version]) => all.get(name) !== version);
  expect(different).toEqual([]);
});

test('the packages that break the engine without a GPU are not in the list', () => {
  const all = readPins('setup/constraints.txt');
  expect(['torchvision', 'torchaudio', 'torchcodec'].filter((name) => all.has(name))).toEqual([]);
});
