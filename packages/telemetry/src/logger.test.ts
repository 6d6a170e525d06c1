import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import { describe, expect, it } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { createLogger } from './logger.ts';
import { logShardAttempt } from './shard-attempt-line.ts';

type Line = Record<string, unknown> & { err?: Record<string, unknown> };

function openLog() {
  const path = join(makeTempDir(), 'logs', 'run.ndjson');
  const logger = createLogger({ to: path, level: 'debug', bindings: { run: 'r1', api_key: 'key-value' } });
  return { logger, read: () => readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Line) };
}

describe('the logger', () => {
  it('writes one JSON line an entry, at once, with the time and the ids of its parents', () => {
    const { logger, read } = openLog();
    logger.child({ epoch: 2 }).child({ shard: 's0001' }).debug({ requests: 3 }, 'leased \u2028 here');
    expect(read()).toMatchObject([{ level: 'debug', run: 'r1', epoch: 2, shard: 's0001', requests: 3, msg: 'leased \u2028 here', pid: process.pid }]);
    expect(new Date(String(read()[0]?.['time'])).getTime()).not.toBeNaN();
  });

  it('writes no secret: not in fields, texts, bindings or errors', () => {
    const { logger, read } = openLog();
    const token = 'hf_abcdefghijklmnopqrstuvwxyz';
    logger.info({ model_args: { token: 'plain-value', eos_token: '</s>' } }, `--model_args token=${token}`);
    logger.error(new Error(`refused ${token}`, { cause: new Error(`because of ${token}`) }));
    const text = JSON.stringify(read());
    for (const secret of [token, 'key-value', 'plain-value']) expect(text).not.toContain(secret);
    expect(read()[0]).toMatchObject({ model_args: { eos_token: '</s>' } });
  });

  it('loses a line where the disk is full, and nothing else', async () => {
    expect(() => createLogger({ to: '/dev/full' }).info('a line')).not.toThrow();
    // An error event that nobody takes would end this process now.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('keeps an error\'s code, details and causes', () => {
    const { logger, read } = openLog();
    const cause = Object.assign(new Error('write'), { code: 'ENOSPC' });
    logger.error({ err: new AssayError('DISK_FULL', { dir: '/d', free: '0 B', needed: '1 B' }, { cause }) }, 'stopped');
    expect(read()[0]?.err).toMatchObject({ type: 'AssayError', code: 'DISK_FULL', details: { dir: '/d' }, cause: { code: 'ENOSPC' } });
    expect(read()[0]?.err?.['stack']).toContain('logger.test.ts');
  });

  it('leaves one wide line for a shard\'s attempt, as a warning where it failed', () => {
    const { logger, read } = openLog();
    const line = {
      epoch: 1, shard: 's0003', attempt: 2, worker: 'engine-0', requests: 8, results: 8,
      seconds: { wait: 0.1, engine: 2, commit: 0.2 }, engine: { promptTokens: 80, cachedTokens: 8, newTokens: 16, steps: 4, peakBytes: 1e9, batch: { median: 7, max: 8 } },
    };
    logShardAttempt(logger, { ...line, outcome: 'done' });
    logShardAttempt(logger, { ...line, outcome: 'failed', failure: { class: 'oom', message: 'no memory' } });
    expect(read()).toMatchObject([{ ...line, level: 'info', outcome: 'done' }, { level: 'warn', failure: { class: 'oom' } }]);
  });
});
