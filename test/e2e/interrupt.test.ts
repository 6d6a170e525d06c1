// Ctrl-C, SIGTERM and run_timeout: each leaves a run that the same command completes, with the scores of a calm one.
import { beforeAll, type TestContext } from 'vitest';
import { AssayWorld, demoModel, type Started } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, listRowsByEpoch, readRecord, readScores, waitForEvent } from '../support/run-record.ts';
import { prepareSimulated, testInWorld } from '../support/simulated-run.ts';
import { waitUntil } from '../support/wait-until.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const SETTINGS = { engine: { seconds_per_token: 0.001, max_num_batched_tokens: 256 } };
let calm: Awaited<ReturnType<typeof readScores>>;

beforeAll(async () => {
  if (!isPresent) return;
  const world = new AssayWorld();
  try {
    const { dir, command } = prepareSimulated(world);
    await world.run(command);
    calm = await readScores(dir);
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

testInWorld('Ctrl-C while the requests are rendered exits 130', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, SETTINGS);
  const run = world.start(command);
  await waitForEvent(run, dir, 'worker_started');
  run.kill('SIGINT');
  const ended = await run.ended;
  expect(ended, ended.stderr).toMatchObject({ exitCode: 130 });
  await expectCompletion(world, { dir, command }, expect);
});

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
  expect(await readScores(dir)).toEqual(calm);
}
