import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { takeRun } from './named-run.ts';
import { runCommand } from './run-command.ts';
import { makeSampleRun } from './testing/sample-run.ts';

const collect = () => {
  const texts: string[] = [];
  return { write: (text: string) => texts.push(text), text: () => texts.join('') };
};

test('without RUN a command takes the latest run in runs/ and names it on stderr alone', async () => {
  const cwd = makeTempDir();
  const { run, events } = await makeSampleRun(join(cwd, 'runs', 'mine'), []);
  try {
    for (const command of ['status', 'logs']) {
      const [stdout, stderr] = [collect(), collect()];
      await runCommand({ argv: [command, '--json'], cwd, env: {}, stdout, stderr });
      expect(stderr.text()).toContain(`note: no run was named: the latest in runs/ is ${run.dir}\n`);
      expect(stdout.text()).not.toContain('no run was named');
    }
    const named = collect();
    expect((await takeRun('mine', { cwd, stderr: named })).dir).toBe(run.dir);
    expect(named.text()).toBe('');
  } finally {
    await events.close();
    run.close();
  }
});

test('without RUN and without runs a command says so', async () => {
  const cwd = makeTempDir();
  const [stdout, stderr] = [collect(), collect()];
  expect(await runCommand({ argv: ['results'], cwd, env: {}, stdout, stderr })).toBe(2);
  expect(stderr.text()).toContain(`no run at ${join(cwd, 'runs')}\n`);
});
