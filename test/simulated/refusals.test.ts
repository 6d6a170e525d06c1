// A run that is refused before its first result leaves nothing; one that fails keeps its logs, says where, and resumes.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

/** What is wrong, where the run was to lie, and what may be there afterwards. */
const REFUSALS: Record<string, { settings?: Record<string, unknown>; env?: Record<string, string>; path?: string; exitCode: number; code: string }> = {
  'a plan that fits nowhere': { settings: { limits: { memory: '64MiB' } }, exitCode: 2, code: 'PLAN_IMPOSSIBLE' },
  'a task that is not there': { settings: { tasks: ['assay_shrt'] }, path: 'new/deep', exitCode: 2, code: 'TASK_UNKNOWN' },
  'a Redis that does not answer': { env: { REDIS_URL: 'unix:///nowhere/redis.sock' }, path: 'mine', exitCode: 3, code: 'REDIS_UNREACHABLE' },
};

for (const [what, { settings = {}, env = {}, path, exitCode, code }] of Object.entries(REFUSALS)) {
  testInWorld(`${what} leaves nothing, ${path === undefined ? 'without a path' : path === 'mine' ? 'but for a folder that was there' : 'no folder above it either'}`, async (world, { expect }) => {
    const { config } = prepareSimulated(world, { settings });
    mkdirSync(world.path('mine'));
    const before = readdirSync(world.root);
    const ended = await world.run(['run', '--config', config, '--json', ...(path === undefined ? [] : ['--output_path', world.path(path)])], env);
    expect(ended, ended.stderr).toMatchObject({ exitCode });
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code } });
    expect(readdirSync(world.root)).toEqual(before);
    expect(readdirSync(world.path('mine'))).toEqual([]);
  });
}

testInWorld('an engine that cannot load leaves its logs, says where, and the same command goes on there', async (world, { expect }) => {
  const marker = world.path('struck');
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'load', do: 'raise', message: 'no such kernel', marker }] });
  const failed = await world.run(command);
  expect(failed, failed.stderr).toMatchObject({ exitCode: 4 });
  expect(failed.stderr).toContain(`kept    ${dir}: its logs, and what was done so far; the same command goes on there`);
  expect(existsSync(join(dir, 'logs', 'engine-0.log'))).toBe(true);
  const status = await world.run(['status', dir]);
  expect(status.stdout).toContain('state      failed: the same command resumes it');
  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
});
