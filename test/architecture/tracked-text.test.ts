// What must not be in the repository: names of package registries, paths of one machine, addresses in the lock file.
import { describe, expect, test } from 'vitest';
import { listFiles, readFile } from '../support/source-tree.ts';

const dots = (...parts: string[]): string => parts.join('.');
const REGISTRIES = [
  dots('registry', 'npmjs', 'org'), dots('pypi', 'org'), dots('files', 'pythonhosted', 'org'), dots('download', 'pytorch', 'org'), dots('deb', 'debian', 'org'),
];
/** The one place that may name PyTorch's index of CPU builds. */
const TORCH_INDEX_FILE = 'setup/python-environment.mjs';
const MACHINE_PATH = new RegExp(['root', 'work/main', 'work/shared', 'opt/wheels', 'opt/pypi'].map((dir) => `(?<![\\w.~$}-])/${dir}/`).join('|'));

const text = listFiles().filter((name) => !/\.(bin|png|safetensors|gguf)$/.test(name)).map(readFile);

test('no file names a package registry', () => {
  const wrong = text.flatMap((file) => REGISTRIES.filter((host) => file.text.includes(host)
    && !(file.name === TORCH_INDEX_FILE && host.startsWith('download'))).map((host) => `${file.name}: ${host}`));
  expect(wrong).toEqual([]);
});

test('no file holds a path of one machine', () => {
  const wrong = text.flatMap(({ name, text: content }) =>
    content.split('\n').flatMap((line, index) => (MACHINE_PATH.test(line) ? [`${name}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])));
  expect(wrong).toEqual([]);
});

describe('the lock file', () => {
  const lock = JSON.parse(readFile('package-lock.json').text) as { packages: Record<string, { resolved?: string; link?: boolean; integrity?: string }> };
  const entries = Object.entries(lock.packages);

  test('carries no addresses', () => {
    expect(entries.filter(([, { resolved, link }]) => resolved !== undefined && !link).map(([name]) => name)).toEqual([]);
  });

  test('fixes every package by its digest', () => {
    expect(entries.filter(([name, { integrity }]) => /node_modules\/(?!@assay\/)/.test(name) && !integrity).map(([name]) => name)).toEqual([]);
  });
});
