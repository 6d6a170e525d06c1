// Engines that die, hang, lose requests or print where they should not. The fault is the simulated engine's; everything
// around it is real.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { demoModel } from '../support/assay-world.ts';
import { killQuietly } from '../support/process-table.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { findEngine, listEvents, readRecord, requireManifest, waitForEvent } from '../support/run-record.ts';
import { readScores } from '../support/score-files.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

/** 64 requests: 16 questions of four choices. */
const LETTERS = { tasks: ['assay_letters'], settings: { limit: 16 } };

testInWorld('a request that ends every engine is found, rejected and left out of the score; the other 63 are kept', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { ...LETTERS, faults: [{ at: 'row', row: 17, do: 'exit', code: 134 }] });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 1 });

  const { ledger, results } = await readRecord(dir);
  expect(ledger.countByOutcome()).toMatchObject({ ok: 63, rejected: 1 });
  expect(results.filter(({ outcome }) => outcome === 'rejected')).toMatchObject([{ row: 17, message: expect.stringContaining('exit code 134') }]);
  const engines = (await listEvents(dir)).filter((event) => event.type === 'worker_started' && event.role === 'engine');
  expect(engines.length - 1).toBeLessThanOrEqual(8);
  const scored = (await listEvents(dir)).find((event) => event.type === 'task_scored');
  expect(scored).toMatchObject({ documents: 16, scoredDocuments: 15 });
  expect((await requireManifest(dir)).coverage).toMatchObject({ requests: 64, final: 64, answered: 63 });
  const said = { exitCode: 1, stdout: expect.stringMatching(/98\.4 %[^]*! assay_letters: 63 of 64 requests have an answer/) };
  expect(run).toMatchObject(said);
  // The same command finds the run complete, and says the same of it.
  expect(await world.run(command)).toMatchObject(said);
});

testInWorld('an engine that hangs is ended after stall_timeout and its shard runs again', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'row', row: 30, do: 'hang', marker: world.path('hung') }], settings: { stall_timeout: 4 } });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });

  const events = await listEvents(dir);
  const ended = events.find((event) => event.type === 'worker_ended' && event.problem !== undefined);
  expect(ended).toMatchObject({ worker: 'engine-0', problem: expect.stringContaining('stall_timeout') });
  expect(run.stderr).toContain('no progress for 4 s');
  expect(events.some((event) => event.type === 'shard_started' && event.attempt === 2)).toBe(true);
  expect((await readRecord(dir)).ledger.countByOutcome()).toMatchObject({ rejected: 0, timed_out: 0 });
});

testInWorld('a request that the engine swallows times out, is tried again by the same command, at most max_tries times', async (world, { expect }) => {
  const marker = world.path('swallowed');
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'add', row: 5, do: 'swallow', marker }], settings: { limit: 12, request_timeout: 3, max_tries: 2 } });
  const outcomes = async () => (await readRecord(dir)).ledger;

  const first = await world.run(command);
  expect(first, first.stderr).toMatchObject({ exitCode: 1 });
  expect(first.stderr).toContain('incomplete');
  expect((await outcomes()).countByOutcome()).toMatchObject({ timed_out: 1 });

  rmSync(marker);
  expect(await world.run(command)).toMatchObject({ exitCode: 1 });
  expect((await outcomes()).tries(5)).toBe(2);

  // No try is left: the run says so without loading an engine.
  rmSync(marker);
  expect(await world.run(command)).toMatchObject({ exitCode: 1 });
  expect((await outcomes()).tries(5)).toBe(2);
  expect(existsSync(marker)).toBe(false);

  writeFileSync(marker, '');
  const last = await world.run([...command, '--max_tries', '3']);
  expect(last, last.stderr).toMatchObject({ exitCode: 0 });
  expect((await outcomes()).openRows()).toHaveLength(0);
  expect((await outcomes()).duplicates).toBe(0);
});

testInWorld('in strict a shard is not cut: with a request that ends every engine it is given up, the others are kept', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, {
    tasks: LETTERS.tasks, faults: [{ at: 'row', row: 17, do: 'exit', code: 9 }], settings: { limit: 16, determinism: 'strict' },
  });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 1 });
  const events = await listEvents(dir);
  const shard = events.find((event) => event.type === 'attempt_failed')?.shard;
  const given = events.filter((event) => event.type === 'shard_started' && event.shard === shard && event.worker !== 'agent');
  expect(given).toHaveLength(6);
  const begun = given[0];
  const size = begun?.type === 'shard_started' ? begun.end - begun.begin : 0;
  expect((await readRecord(dir)).ledger.countByOutcome()).toMatchObject({ ok: 64 - size, engine_error: size, rejected: 0 });
});

testInWorld('a harness that is killed ends the run with the reason, and the same command scores what was answered', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world);
  const run = world.start([...command, '--json']);
  await waitForEvent(run, dir, 'shard_started');
  const harness = (await listEvents(dir)).find((event) => event.type === 'worker_started' && event.role === 'harness');
  killQuietly(harness?.type === 'worker_started' ? harness.pid : 0, 'SIGKILL');
  const ended = await run.ended;
  expect(ended.exitCode, ended.stderr).toBe(4);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'WORKER_CRASHED', details: { role: 'harness' } } });
  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  expect((await readRecord(dir)).ledger.duplicates).toBe(0);
});

testInWorld('a request that the engine refuses is rejected alone', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { ...LETTERS, faults: [{ at: 'add', row: 9, do: 'refuse', text: 'no such token' }] });
  expect(await world.run(command)).toMatchObject({ exitCode: 1 });
  const { results } = await readRecord(dir);
  expect(results.filter(({ outcome }) => outcome === 'rejected')).toMatchObject([{ row: 9, message: 'no such token' }]);
  expect((await listEvents(dir)).filter((event) => event.type === 'attempt_failed')).toEqual([]);
});

testInWorld('where more than a tenth of the documents failed there is no score, and both numbers stand in the record', async (world, { expect }) => {
  const faults = [9, 13].map((row) => ({ at: 'add' as const, row, do: 'refuse' as const, text: 'no such token' }));
  const { dir, command } = prepareSimulated(world, { ...LETTERS, faults });
  const run = await world.run(command);
  expect(run).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('2 of 16 documents have no answer, more than the 10%') });
  const { scores, tasks } = await requireManifest(dir);
  expect(tasks[0]).toMatchObject({ documents: 16, scoredDocuments: 14, headline: 'withheld' });
  for (const { value, partial } of scores.rows) expect([value, partial]).toMatchObject([null, { answered: 14, failed: 2, answeredOnly: expect.any(Number) }]);
  expect(await world.run(command)).toMatchObject({ exitCode: 1, stdout: run.stdout });
});

testInWorld('what an engine prints does no harm, and its children go with it', async (world, { expect }) => {
  const calm = prepareSimulated(world);
  expect(await world.run(calm.command)).toMatchObject({ exitCode: 0 });
  const scores = readScores(calm.dir);
  rmSync(calm.dir, { recursive: true });

  const grandchild = ['sh', '-c', 'trap "" TERM INT HUP; while :; do sleep 1; done'];
  const { dir, command } = prepareSimulated(world, {
    faults: [
      { at: 'load', do: 'print', text: '{"type":"hello","protocol":99}' },
      { at: 'load', do: 'spawn', command: grandchild },
      { at: 'row', row: 3, do: 'print', text: '{"type":"results","shard":"s0000","epoch":1,"attempt":1,"results":[]}' },
      { at: 'row', row: 3, do: 'stderr', text: 'ERROR this is only talk' },
      { at: 'row', row: 40, do: 'spawn', command: ['setsid', ...grandchild] },
    ],
  });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  expect(readScores(dir)).toEqual(scores);
});

testInWorld('the children of an engine that was killed end, also those that left its group', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, {
    faults: [{ at: 'load', do: 'spawn', command: ['setsid', 'sh', '-c', 'trap "" TERM INT HUP; while :; do sleep 1; done'] }],
    engine: { seconds_per_token: 0.001, max_num_batched_tokens: 256 },
  });
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_started');
  killQuietly((await findEngine(dir)) as number, 'SIGKILL');
  await waitForEvent(run, dir, 'worker_ended');
  const ended = await run.ended;
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
});
