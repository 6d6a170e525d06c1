// Ctrl-C, SIGTERM and run_timeout: each leaves a run that the same command completes, with the scores of a calm one.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedEvent } from '@assay/store';
import { beforeAll, type TestContext } from 'vitest';
import { AssayWorld, demoModel, type Started } from '../support/assay-world.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { listEvents, listRowsByEpoch, readRecord, waitForEvent } from '../support/run-record.ts';
import { readScores } from '../support/score-files.ts';
import { type Fault, prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';
import { waitUntil } from '../support/wait-until.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const SETTINGS = { engine: { seconds_per_token: 0.001, max_num_batched_tokens: 256 } };
let calm: ReturnType<typeof readScores>;

beforeAll(async () => {
  if (!isPresent) return;
  const world = new AssayWorld();
  try {
    const { dir, command } = prepareSimulated(world);
    await world.run(command);
    calm = readScores(dir);
  } finally {
    await world.remove();
  }
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  testInWorld(`the first ${signal} finishes what is in the engines and exits 130; the same command completes the run`, async (world, { expect }) => {
    const { run, dir, command } = await startSlowly(world);
    run.kill(signal);
    const ended = await run.ended;
    expect(ended, ended.stderr).toMatchObject({ exitCode: 130 });
    expect(ended.stderr).toContain('draining: requests in the engines finish');
    const events = await listEvents(dir);
    // Drained: the engine ended by itself, and nothing new was started after the signal.
    expect(events.find((event) => event.type === 'worker_ended' && event.worker === 'engine-0')).toMatchObject({ exitCode: 0, signal: null });
    expect(events.some((event) => event.type === 'interrupted')).toBe(true);
    await expectCompletion(world, { dir, command }, expect);
  });
}

testInWorld('without a path the same command goes on with its unfinished run, and starts anew where a task has changed since', async (world, { expect }) => {
  const tasks = world.path('tasks');
  cpSync(join(cloneDir, 'tasks'), tasks, { recursive: true });
  const { config } = prepareSimulated(world, { ...SETTINGS, settings: { include_path: tasks } });
  const command = ['run', '--config', config];
  const runs = () => readdirSync(world.path('runs')).toSorted().map((name) => world.path('runs', name));
  const interrupt = async (place: number) => {
    const run = world.start(command);
    await waitUntil('a run directory', () => existsSync(world.path('runs')) && runs()[place] !== undefined, 60_000);
    await waitForEvent(run, runs()[place] as string, 'shard_done');
    run.kill('SIGINT');
    const ended = await run.ended;
    expect(ended, ended.stderr).toMatchObject({ exitCode: 130 });
    expect(ended.stderr).toContain(`The same command resumes it in ${runs()[place]}.`);
  };
  await interrupt(0);
  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  expect(runs()).toHaveLength(1);

  await interrupt(1);
  const data = join(tasks, 'data', 'short.jsonl');
  writeFileSync(data, readFileSync(data, 'utf8').replace('What is the capital of Japan?', 'What is the main city of Japan?'));
  const anew = await world.run(command);
  expect(anew, anew.stderr).toMatchObject({ exitCode: 0 });
  expect(anew.stderr).toMatch(/the unfinished run .* is of other content \(.*tasks\.assay_short\.datasetDigest: .*\); a new run is started/);
  expect(runs()).toHaveLength(3);
});

testInWorld('a second Ctrl-C stops at once and exits 130; the same command completes the run', async (world, { expect }) => {
  const { run, dir, command } = await startSlowly(world);
  run.kill('SIGINT');
  await waitUntil('the drain', () => run.stderr().includes('draining'));
  run.kill('SIGINT');
  const ended = await run.ended;
  expect(ended, ended.stderr).toMatchObject({ exitCode: 130 });
  expect(ended.stderr).toContain('stopping now');
  await expectCompletion(world, { dir, command }, expect);
});

/** Where a run is when the signal comes: what its events say then. */
const MOMENTS: Record<string, { faults?: Fault[]; isThere(event: LoggedEvent): boolean }> = {
  'the requests are rendered': { isThere: ({ type }) => type === 'worker_started' },
  'the model is loaded': { faults: [{ at: 'load', do: 'sleep', seconds: 5 }], isThere: (event) => event.type === 'state_changed' && event.to === 'probing' },
  'the scores are made': { isThere: (event) => event.type === 'state_changed' && event.to === 'scoring' },
};

for (const [moment, { faults = [], isThere }] of Object.entries(MOMENTS)) {
  testInWorld(`Ctrl-C while ${moment} exits 130, and the same command completes the run`, async (world, { expect }) => {
    const { dir, command } = prepareSimulated(world, { faults });
    const run = world.start(command);
    await waitUntil('the moment', async () => (await listEvents(dir)).some(isThere), 240_000);
    run.kill('SIGINT');
    const ended = await run.ended;
    expect(ended, ended.stderr).toMatchObject({ exitCode: 130 });
    await expectCompletion(world, { dir, command }, expect);
  });
}

testInWorld('run_timeout ends the run with 4; the same command with more time completes it', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { engine: { ...SETTINGS.engine, seconds_per_token: 0.003 }, settings: { run_timeout: 8 } });
  const ended = await world.run([...command, '--json']);
  expect(ended.exitCode, ended.stderr).toBe(4);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'RUN_TIMEOUT' } });
  expect((await listEvents(dir)).find((event) => event.type === 'failed')).toMatchObject({ code: 'RUN_TIMEOUT' });
  await expectCompletion(world, { dir, command: [...command, '--run_timeout', '600'] }, expect);
});

/** A run that is in the middle of its work, with results on disk. */
async function startSlowly(world: AssayWorld): Promise<{ run: Started; dir: string; command: string[] }> {
  const { dir, command } = prepareSimulated(world, SETTINGS);
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_done');
  return { run, dir, command };
}

async function expectCompletion(world: AssayWorld, { dir, command }: { dir: string; command: string[] }, expect: TestContext['expect']): Promise<void> {
  const ended = await world.run(command);
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
  const { ledger } = await readRecord(dir);
  expect({ final: ledger.finalCount, duplicates: ledger.duplicates }).toEqual({ final: ledger.index.count, duplicates: 0 });
  const rows = [...(await listRowsByEpoch(dir)).values()].flat();
  expect(new Set(rows).size).toBe(rows.length);
  expect(readScores(dir)).toEqual(calm);
}

testInWorld('SIGTERM ends a plan as interrupted, with nothing kept and no word of a run', async (world, { expect }) => {
  const { config } = prepareSimulated(world);
  const plan = world.start(['plan', '--config', config]);
  const hasHarness = () => readdirSync(world.tmp).some((name) => existsSync(join(world.tmp, name, 'run', 'logs', 'harness.log')));
  await waitUntil('the harness', hasHarness, 60_000);
  plan.kill('SIGTERM');
  const { exitCode, stderr } = await plan.ended;
  expect(exitCode, stderr).toBe(130);
  expect(stderr).toMatch(/SIGTERM: stopping\nassay: interrupted\nNothing was kept; start it again\.\n$/);
  expect(readdirSync(world.tmp).filter((name) => name.startsWith('assay-rehearsal-'))).toEqual([]);
});
