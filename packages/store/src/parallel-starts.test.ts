import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';

const STARTS = 12;
const MODULE = fileURLToPath(new URL('run-directory.ts', import.meta.url));
// Each holds its lock until all have answered, as runs do; the clock is the same for all.
const CODE = `const { openRunDirectory } = await import(${JSON.stringify(MODULE)});
  const [cwd, outputPath] = process.argv.slice(1);
  const settings = { model: 'vllm', tasks: ['a'] };
  const run = await openRunDirectory({ outputPath, cwd, model: 'm', settings, now: new Date(0) }).catch((error) => ({ dir: error.code, close() {} }));
  process.stdout.write(run.dir);
  process.stdin.on('end', () => run.close()).resume();`;

async function startAll(...argv: string[]): Promise<string[]> {
  const starts = Array.from({ length: STARTS }, () => spawn(process.execPath, ['--input-type=module', '-e', CODE, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] }));
  const answers = await Promise.all(starts.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
  await Promise.all(starts.map((start) => {
    start.stdin.end();
    return once(start, 'exit');
  }));
  return answers;
}

it('twelve processes that start a run in one second get twelve folders', async () => {
  const cwd = makeTempDir();
  const dirs = await startAll(cwd);
  expect(new Set(dirs).size).toBe(STARTS);
  expect(readdirSync(join(cwd, 'runs'))).toHaveLength(STARTS);
});

it('twelve processes that name one folder get it once and eleven clear refusals', async () => {
  const cwd = makeTempDir();
  const answers = await startAll(cwd, 'out');
  expect(answers.toSorted()).toEqual([join(cwd, 'out'), ...Array.from({ length: STARTS - 1 }, () => 'RUN_BUSY')].toSorted());
});
