import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AssayError } from '@assay/domain';
import { workerLogFile } from '@assay/store';
import { expect, test } from 'vitest';
import { inOwnFolder } from './rehearsal-folder.ts';

const calm = { drain: new AbortController().signal, stop: new AbortController().signal };
const seen = { dir: '' };

/** A worker that wrote into its log, and a rendered request beside it. */
function writeRun(dir: string): { log: string } {
  seen.dir = dir;
  const log = workerLogFile(dir, 'harness');
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, 'the last words');
  writeFileSync(`${dir}/run.json`, '{}');
  return { log };
}

function fail(dir: string): Promise<never> {
  const { log } = writeRun(dir);
  return Promise.reject(new AssayError('WORKER_CRASHED', { worker: 'harness', how: 'signal SIGTERM', problem: 'unknown', log }));
}

test('what went well leaves nothing', async () => {
  expect(await inOwnFolder(calm, async (dir) => writeRun(dir).log)).toContain('harness.log');
  expect(existsSync(dirname(seen.dir))).toBe(false);
});

test('a failure that names a log leaves it there, and nothing else', async () => {
  const thrown = await inOwnFolder(calm, fail).catch((error: AssayError) => error) as AssayError;
  const log = thrown.details['log'] as string;
  try {
    expect(thrown.code).toBe('WORKER_CRASHED');
    expect(readFileSync(log, 'utf8')).toBe('the last words');
    expect(readdirSync(seen.dir)).toEqual(['logs']);
  } finally {
    rmSync(dirname(seen.dir), { recursive: true });
  }
});

test('a failure that names none leaves nothing', async () => {
  const work = async (dir: string) => {
    writeRun(dir);
    throw new AssayError('TASK_UNKNOWN', { task: 'x', nearest: 'Did you mean y?' });
  };
  await expect(inOwnFolder(calm, work)).rejects.toMatchObject({ code: 'TASK_UNKNOWN' });
  expect(existsSync(dirname(seen.dir))).toBe(false);
});

test.each(['drain', 'stop'] as const)('after %s it was interrupted, whatever the worker that ended says, and nothing stays', async (signal) => {
  const ending = { ...calm, [signal]: AbortSignal.abort('SIGTERM') };
  await expect(inOwnFolder(ending, fail)).rejects.toMatchObject({ code: 'INTERRUPTED', exitCode: 130, message: 'interrupted', remedy: 'Nothing was kept; start it again.' });
  expect(existsSync(dirname(seen.dir))).toBe(false);
});
