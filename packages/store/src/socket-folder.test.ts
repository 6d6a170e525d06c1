import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { makeSocketFolder, type SocketFolder } from './socket-folder.ts';

function make(home: string): SocketFolder {
  const folder = makeSocketFolder(home);
  onTestFinished(() => folder.remove());
  return folder;
}

test('the folder of a run is private, in ASSAY_HOME, and goes with all that is in it', () => {
  const home = makeTempDir();
  const { dir, remove } = make(home);
  expect(dir.startsWith(join(home, 'sockets'))).toBe(true);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  writeFileSync(join(dir, 'left'), '');
  remove();
  expect(readdirSync(join(home, 'sockets'))).toEqual([]);
});

test('it lies in the temporary folder where ASSAY_HOME cannot be written', () => {
  const home = join(makeTempDir(), 'file');
  writeFileSync(home, 'no folder');
  const { dir } = make(home);
  expect(dir.startsWith(home)).toBe(false);
  expect(existsSync(dir)).toBe(true);
});

test('a socket with a UUID for its name fits, however long ASSAY_HOME is', () => {
  const long = join(makeTempDir(), 'x'.repeat(60));
  expect(Buffer.byteLength(join(make(long).dir, 'f47ac10b-58cc-4372-a567-0e02b2c3d479'))).toBeLessThan(108);
});

test('no temporary folder of the system is needed where ASSAY_HOME is short', () => {
  const home = makeTempDir();
  vi.stubEnv('TMPDIR', '/nowhere');
  onTestFinished(() => { vi.unstubAllEnvs(); });
  expect(existsSync(make(home).dir)).toBe(true);
});

test('what a killed run left is swept, and what is being made stays', () => {
  const home = makeTempDir();
  const sockets = join(home, 'sockets');
  mkdirSync(join(sockets, 'deadbeef'), { recursive: true });
  writeFileSync(join(sockets, 'deadbeef', 'owner'), `${process.pid} 1`);
  mkdirSync(join(sockets, 'being-made'));
  make(home);
  expect(existsSync(join(sockets, 'deadbeef'))).toBe(false);
  expect(existsSync(join(sockets, 'being-made'))).toBe(true);
});
