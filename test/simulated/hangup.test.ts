// A terminal that is closed, and a run whose process is gone: `assay status` never says that work goes on which nobody does.
import type { TestContext } from 'vitest';
import { type AssayWorld, demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, waitForEvent } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const SLOW = { engine: { seconds_per_token: 0.001, max_num_batched_tokens: 256 } };

testInWorld('a terminal that is closed drains the run, which ends with 130 and resumes', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, SLOW);
  const run = world.startOnTerminal(command);
  await waitForEvent(run, dir, 'shard_done');
  run.closeTerminal();
  expect(await run.ended).toMatchObject({ exitCode: 130 });
  const events = await listEvents(dir);
  expect(events.some(({ type }) => type === 'drain_started')).toBe(true);
  expect(events.find((event) => event.type === 'worker_ended' && event.worker === 'engine-0')).toMatchObject({ exitCode: 0, signal: null });
  expect(await statusOf(world, dir)).toMatchObject({ state: 'interrupted', ended: { code: 'INTERRUPTED' }, processes: [] });
  await expectCompletion(world, { dir, command }, expect);
});

testInWorld('under nohup the run goes on when its terminal is closed', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, SLOW);
  const run = world.startOnTerminal(command, ['nohup']);
  await waitForEvent(run, dir, 'shard_done');
  run.closeTerminal();
  expect(await run.ended).toMatchObject({ exitCode: 0 });
  expect(await statusOf(world, dir)).toMatchObject({ state: 'sealed', epoch: 1 });
});

testInWorld('after kill -9 the run is said to be interrupted, as JSON and for people, and resumes', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, SLOW);
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_done');
  expect(await statusOf(world, dir)).toMatchObject({ state: 'running', alive: true });
  run.kill('SIGKILL');
  await run.ended;
  expect(await statusOf(world, dir)).toMatchObject({ state: 'interrupted', alive: false, shards: { running: 0 } });
  const { stdout } = await world.run(['status', dir]);
  expect(stdout).toContain('state      interrupted: the same command resumes it\nbecause    its process is gone');
  await expectCompletion(world, { dir, command }, expect);
});

async function statusOf(world: AssayWorld, dir: string): Promise<Record<string, unknown>> {
  const { stdout } = await world.run(['status', dir, '--json']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function expectCompletion(world: AssayWorld, { dir, command }: { dir: string; command: string[] }, expect: TestContext['expect']): Promise<void> {
  const ended = await world.run(command);
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
  expect(await statusOf(world, dir)).toMatchObject({ state: 'sealed' });
}
