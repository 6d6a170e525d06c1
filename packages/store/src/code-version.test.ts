import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasProgram, requireOrSkip } from '../../../test/support/requirements.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { readCodeVersion } from './code-version.ts';

/** A copy of the product's shape: the root's package.json and a file of the source. */
function makeProduct(dir: string): string {
  const source = join(dir, 'packages', 'store', 'src');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name: 'assay', version: '9.8.7' }));
  writeFileSync(join(dir, 'packages', 'store', 'package.json'), JSON.stringify({ name: '@assay/store', version: '0.0.1' }));
  writeFileSync(join(source, 'code-version.ts'), '');
  return join(source, 'code-version.ts');
}

const git = (dir: string, ...command: string[]) => execFileSync('git', [
  '-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false', ...command,
], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function commitAll(dir: string): string {
  git(dir, 'init', '--quiet');
  git(dir, 'add', '-A');
  git(dir, 'commit', '--quiet', '--no-verify', '-m', 'x');
  return git(dir, 'rev-parse', 'HEAD');
}

describe('readCodeVersion', () => {
  requireOrSkip('git', hasProgram('git'), 'the checkout\'s commit is asked of it');

  it('has no commit outside of a checkout', async () => {
    expect(await readCodeVersion(makeProduct(makeTempDir()))).toEqual({ version: '9.8.7', commit: null, dirty: null });
  });

  it('does not take the repository around it for its own', async () => {
    const outer = makeTempDir();
    const file = makeProduct(join(outer, 'node_modules', 'assay'));
    commitAll(outer);
    expect(await readCodeVersion(file)).toEqual({ version: '9.8.7', commit: null, dirty: null });
  });

  it('knows the commit of its own checkout, and whether it was changed', async () => {
    const dir = makeTempDir();
    const file = makeProduct(dir);
    const commit = commitAll(dir);
    expect(await readCodeVersion(file)).toEqual({ version: '9.8.7', commit, dirty: false });
    writeFileSync(join(dir, 'new.txt'), '');
    expect(await readCodeVersion(file)).toEqual({ version: '9.8.7', commit, dirty: true });
  });

  it('does not listen to GIT_DIR, nor to the working directory', async () => {
    const other = makeTempDir();
    writeFileSync(join(other, 'file'), '');
    commitAll(other);
    const dir = makeTempDir();
    const file = makeProduct(dir);
    const commit = commitAll(dir);
    vi.stubEnv('GIT_DIR', join(other, '.git'));
    onTestFinished(() => { vi.unstubAllEnvs(); });
    expect((await readCodeVersion(file)).commit).toBe(commit);
  });

  it('has no commit where git is missing or refuses', async () => {
    const dir = makeTempDir();
    const file = makeProduct(dir);
    commitAll(dir);
    vi.stubEnv('PATH', makeTempDir());
    onTestFinished(() => { vi.unstubAllEnvs(); });
    expect(await readCodeVersion(file)).toEqual({ version: '9.8.7', commit: null, dirty: null });
  });

  it('reads the version of this very build', async () => {
    expect((await readCodeVersion()).version).toMatch(/^\d+\.\d+\.\d+/);
  });
});
