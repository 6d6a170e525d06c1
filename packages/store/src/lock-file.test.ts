import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockFile, tryLockFile } from './lock-file.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';

const MODULE = fileURLToPath(new URL('lock-file.ts', import.meta.url));

/** A real process that takes the lock and keeps it. */
async function startHolder(path: string) {
  const code = `const { lockFile } = await import(${JSON.stringify(MODULE)}); await lockFile(process.argv[1]); console.log('held'); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => { child.kill('SIGKILL'); });
  await once(child.stdout, 'data');
  return child;
}

describe('lockFile', () => {
  it('refuses a second holder in this process and is free again after release', async () => {
    const path = join(makeTempDir(), 'run.lock');
    const lock = await lockFile(path);
    await expect(lockFile(path)).rejects.toMatchObject({ code: 'RUN_BUSY', details: { pid: process.pid } });
    lock.release();
    lock.release();
    (await lockFile(path)).release();
    expect(existsSync(`${path}.pid`)).toBe(false);
  });

  it('names the pid of another process that holds it', async () => {
    const path = join(makeTempDir(), 'run.lock');
    const holder = await startHolder(path);
    expect(await tryLockFile(path)).toEqual({ lock: undefined, holderPid: holder.pid });
    await expect(lockFile(path)).rejects.toMatchObject({ code: 'RUN_BUSY', details: { pid: holder.pid } });
  });

  it('is freed by the kernel when its holder is killed', async () => {
    const path = join(makeTempDir(), 'run.lock');
    const holder = await startHolder(path);
    const ended = once(holder, 'exit');
    holder.kill('SIGKILL');
    await ended;
    const lock = await lockFile(path);
    expect(lock.path).toBe(path);
    lock.release();
  });

  it('gives exactly one of many the lock', async () => {
    const path = join(makeTempDir(), 'run.lock');
    const attempts = await Promise.all(Array.from({ length: 12 }, () => tryLockFile(path)));
    const locks = attempts.flatMap(({ lock }) => lock ?? []);
    expect(locks).toHaveLength(1);
    locks[0]?.release();
  });

  it('says that a folder cannot be written', async () => {
    const dir = makeTempDir();
    await expect(lockFile(join(dir, 'missing', 'run.lock'))).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
  });
});
