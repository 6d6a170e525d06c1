import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { makeSocketFolder, type SocketFolder } from './socket-folder.ts';

async function make(home: string): Promise<SocketFolder> {
  const folder = await makeSocketFolder(home);
  onTestFinished(() => folder.remove());
  return folder;
}

test('the folder of a run is private, in ASSAY_HOME, and goes with all that is in it', async () => {
  const home = makeTempDir();
  const { dir, remove } = await make(home);
  expect(dir.startsWith(join(home, 'sockets'))).toBe(true);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  writeFileSync(join(dir, 'left'), '');
  remove();
  expect(readdirSync(join(home, 'sockets'))).toEqual([]);
});

test('it lies in the temporary folder where ASSAY_HOME cannot be written', async () => {
  const home = join(makeTempDir(), 'file');
  writeFileSync(home, 'no folder');
  const { dir } = await make(home);
  expect(dir.startsWith(home)).toBe(false);
  expect(existsSync(dir)).toBe(true);
});

test('a socket with a UUID for its name fits, however long ASSAY_HOME is', async () => {
  const long = join(makeTempDir(), 'x'.repeat(60));
  expect(Buffer.byteLength(join((await make(long)).dir, 'f47ac10b-58cc-4372-a567-0e02b2c3d479'))).toBeLessThan(108);
});

test('no temporary folder of the system is needed where ASSAY_HOME is short', async () => {
  const home = makeTempDir();
  vi.stubEnv('TMPDIR', '/nowhere');
  onTestFinished(() => { vi.unstubAllEnvs(); });
  expect(existsSync((await make(home)).dir)).toBe(true);
});

test('what a killed run left is swept; that of a living one and what is being made stay', async () => {
  const home = makeTempDir();
  const living = await make(home);
  const script = `import { makeSocketFolder } from ${JSON.stringify(join(import.meta.dirname, 'socket-folder.ts'))};
    console.log((await makeSocketFolder(${JSON.stringify(home)})).dir);
    process.kill(process.pid, 'SIGKILL');`;
  const killed = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }).stdout.trim();
  expect(existsSync(killed)).toBe(true);
  mkdirSync(join(home, 'sockets', 'being-made'));
  await make(home);
  expect(existsSync(killed)).toBe(false);
  expect(existsSync(living.dir)).toBe(true);
  expect(existsSync(join(home, 'sockets', 'being-made'))).toBe(true);
});
