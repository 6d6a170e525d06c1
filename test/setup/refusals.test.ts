// Machines that lack something: the set-up says in two lines what, and what to do.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRoot, requireOrSkip } from '../support/requirements.ts';
import { createSandbox, type Sandbox } from '../support/setup-sandbox.ts';

const SETUP = ['node', 'setup/main.mjs', 'setup'];
const INSTALL = expect.stringMatching(/^Install Python 3\.11 with venv/);

let sandbox: Sandbox;
beforeAll(() => { sandbox = createSandbox(); });
afterAll(() => sandbox.remove());

describe('Python', () => {
  test.each([
    ['is missing', undefined, 'no Python found (python3.11, python3, python, python3.12)'],
    ['is too old', fakePython('3, 9, 2'), 'Python 3.9.2 (/fake/python3) is too old: 3.11 is needed'],
    ['is Python 2', fakePython('2, 7, 18'), 'Python 2.7.18 (/fake/python3) is too old: 3.11 is needed'],
    ['is too new', fakePython('3, 14, 0'), 'Python 3.14.0 (/fake/python3) is too new: 3.11 is needed'],
    ['has no venv', fakePython('3, 11, 9', { venv: false }), 'Python 3.11.9 (/fake/python3) has no venv module'],
    ['is built for another C library', fakePython('3, 11, 9', { libc: '' }), 'Python 3.11.9 (/fake/python3) is not built for glibc, which the engine needs'],
    ['is a placeholder that fails', '#!/bin/sh\nexit 1\n', 'no Python found (python3.11, python3, python, python3.12)'],
  ])('that %s is refused', async (name, script, what) => {
    const { exitCode, output } = await sandbox.run(SETUP, { PATH: pathWith(name.replaceAll(' ', '-'), script) });
    expect(exitCode).toBe(3);
    expect(output.trim().split('\n').slice(-2)).toEqual([what, INSTALL]);
  });

  test('that ASSAY_SETUP_PYTHON names is the only one looked at', async () => {
    const { exitCode, output } = await sandbox.run(SETUP, { ASSAY_SETUP_PYTHON: '/no/such/python' });
    expect(exitCode).toBe(3);
    expect(output).toContain('no Python found (/no/such/python)');
  });
});

test('a home that cannot be created is named', async () => {
  const file = path.join(sandbox.userHome, 'file');
  writeFileSync(file, '');
  const { exitCode, output } = await sandbox.run(SETUP, { ASSAY_HOME: path.join(file, 'assay') });
  expect(exitCode).toBe(3);
  expect(output.trim().split('\n').slice(-2)).toEqual([expect.stringContaining('cannot be created'), expect.stringContaining('ASSAY_HOME')]);
});

test('an unknown command is a usage error', async () => {
  const { exitCode, output } = await sandbox.run(['node', 'setup/main.mjs', 'demmo']);
  expect([exitCode, output]).toEqual([2, 'unknown command "demmo"\nUse `npm run setup`, `npm run demo` or `npm test`.\n']);
});

describe('a disk that is too small', () => {
  const canMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0;
  requireOrSkip('the right to mount a file system', canMount, 'run as root');

  test('is refused before anything is downloaded', async () => {
    const home = path.join(sandbox.userHome, 'small');
    mkdirSync(home);
    const inSmallDisk = `mount -t tmpfs -o size=64m tmpfs ${home} && exec ${SETUP.join(' ')}`;
    const { exitCode, output } = await sandbox.run(['unshare', '--mount', 'sh', '-c', inSmallDisk], { ASSAY_HOME: home, npm_config_registry: 'http://127.0.0.1:9' });
    expect(exitCode).toBe(3);
    expect(output.trim().split('\n').slice(-2)).toEqual([
      expect.stringMatching(/^no space: .*small has 0\.1 GiB free, 6 GiB needed$/), expect.stringMatching(/^Free some space/),
    ]);
  });
});

/** A program that answers as a Python of that version would. */
function fakePython(version: string, { venv = true, libc = 'glibc' } = {}): string {
  return `#!/bin/sh\necho '{"executable": "/fake/python3", "version": [${version}], "venv": ${venv}, "libc": "${libc}"}'\n`;
}

/** A PATH with Node and a shell only, and `script` as python3. */
function pathWith(name: string, script: string | undefined): string {
  const dir = path.join(sandbox.userHome, name);
  mkdirSync(dir);
  for (const program of ['node', 'npm', 'sh', 'env']) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
    symlinkSync(stdout.trim(), path.join(dir, program));
  }
  if (script) {
    writeFileSync(path.join(dir, 'python3'), script);
    chmodSync(path.join(dir, 'python3'), 0o755);
  }
  return dir;
}
