// Engines that do not load or run out of memory: before the first request, and in the middle of the work.
import { readFileSync } from 'node:fs';
import { buildRunPaths } from '@assay/store';
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, readRecord, requireManifest, waitForEvent, waitForNextShard } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

interface Probe { rungs: { verdict: string; plan: { maxNumBatchedTokens: number; maxNumSeqs: number; kvCacheBytes: number } }[] }

const readProbe = (dir: string): Probe => JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8'));
const lastLines = (text: string, count: number) => text.trimEnd().split('\n').slice(-count);

testInWorld('a load that fails ends the run with the reason and what to do', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'load', do: 'raise', text: 'no kernel for this shape' }] });
  const run = await world.run([...command, '--json']);
  expect(run.exitCode, run.stderr).toBe(4);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'ENGINE_LOAD', details: { class: 'unknown' } } });
  expect(lastLines(run.stderr, 2)).toEqual([
    'assay: engine-0 cannot load the model (unknown): RuntimeError: no kernel for this shape', expect.stringContaining("Look at the worker's log"),
  ]);
  expect(readProbe(dir).rungs).toMatchObject([{ verdict: 'failed' }]);
});

testInWorld('an engine that dies while it loads ends the run with its last words', async (world, { expect }) => {
  const { command } = prepareSimulated(world, { faults: [{ at: 'load', do: 'stderr', text: 'RuntimeError: the device is gone' }, { at: 'load', do: 'exit', code: 7 }] });
  const run = await world.run([...command, '--json']);
  expect(run.exitCode, run.stderr).toBe(4);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'ENGINE_LOAD' } });
  expect(lastLines(run.stderr, 2)[0]).toBe('assay: engine-0 cannot load the model (engine): exit code 7: RuntimeError: the device is gone');
});

testInWorld('a load that hangs is ended after stall_timeout', async (world, { expect }) => {
  const { command } = prepareSimulated(world, { faults: [{ at: 'load', do: 'hang' }], settings: { stall_timeout: 3 } });
  const run = await world.run([...command, '--json']);
  expect(run.exitCode, run.stderr).toBe(4);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'ENGINE_LOAD' } });
  expect(lastLines(run.stderr, 2)[0]).toContain('no progress for 3 s while loading (stall_timeout)');
});

testInWorld('a probe that runs out of memory goes down a rung, and the run is done with the smaller plan', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { engine: { memory: { bytesPerToken: 1_000, limitBytes: 600_000 } } });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  const { rungs } = readProbe(dir);
  expect(rungs.map(({ verdict }) => verdict)).toEqual([...rungs.slice(1).map(() => 'oom'), 'fits']);
  expect(rungs.length).toBeGreaterThan(1);
  const { maxNumBatchedTokens, maxNumSeqs } = rungs.at(-1)?.plan ?? {};
  const { plan, engine } = await requireManifest(dir);
  expect(plan).toMatchObject({ rung: rungs.length - 1, maxNumBatchedTokens, maxNumSeqs });
  expect(engine.effective).toMatchObject({ batching: { maxNumBatchedTokens, maxNumSeqs } });
});

testInWorld('an engine whose cache cannot hold one request is loaded again with a larger one', async (world, { expect }) => {
  const text = "ValueError: To serve at least one request with the model's max seq len (4096), 2.00 GiB KV cache is needed";
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'load', do: 'raise', text, marker: world.path('struck') }] });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  const [first, second] = readProbe(dir).rungs;
  expect([first, second]).toMatchObject([{ verdict: 'failed', failure: { class: 'kv_small' } }, { verdict: 'fits' }]);
  expect(second?.plan.kvCacheBytes).toBeGreaterThan(first?.plan.kvCacheBytes ?? Infinity);
  expect((await requireManifest(dir)).rungs).toMatchObject([{ from: 0, to: 1 }]);
});

testInWorld('a model that fits under no plan is refused, each plan tried once', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { engine: { memory: { baseBytes: 2_000, bytesPerToken: 1_000, limitBytes: 1_000 } } });
  const run = await world.run([...command, '--json']);
  expect(run.exitCode, run.stderr).toBe(4);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'PROBE_OOM' } });
  expect(lastLines(run.stderr, 2)).toEqual([expect.stringMatching(/^assay: the model does not fit: \d+ plans were tried/), expect.stringMatching(/^It would probably fit|^Use fewer replicas/)]);
  const { rungs } = readProbe(dir);
  expect(rungs.length).toBeGreaterThan(2);
  expect(rungs.every(({ verdict }) => verdict === 'oom')).toBe(true);
  expect(new Set(rungs.map(({ plan }) => JSON.stringify({ ...plan, why: 0, memory: 0 }))).size).toBe(rungs.length);
});

testInWorld('out of memory in mid-run takes a rung, and a start that is killed after it resumes', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, {
    faults: [{ at: 'row', row: 50, do: 'oom', bytes: 800_000_000, marker: world.path('struck') }],
    engine: { seconds_per_token: 0.0005 },
    settings: { probe: false },
  });
  const run = world.start(command);
  await waitForEvent(run, dir, 'rung_taken', ({ shard }) => shard !== undefined);
  await waitForNextShard(run, dir);
  run.kill('SIGKILL');
  await run.ended;

  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  const { rungs, plan, results } = await requireManifest(dir);
  expect(rungs).toMatchObject([{ from: 0, to: 1, shard: expect.any(String) }]);
  expect(Number(plan.maxNumBatchedTokens) * Number(plan.maxNumSeqs)).toBeLessThan(4096 * 8);
  const { ledger } = await readRecord(dir);
  expect(ledger.countByOutcome()).toMatchObject({ rejected: 0, engine_error: 0 });
  expect({ final: ledger.finalCount, duplicates: ledger.duplicates }).toEqual({ final: ledger.index.count, duplicates: 0 });
  expect(results.failedAttempts).toBeGreaterThan(0);
});

testInWorld('a request that alone cannot fit is rejected with its length and the memory it wanted, and every other one is answered', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'row', row: 17, do: 'oom', bytes: 800_000_000 }], settings: { probe: false } });
  const run = await world.run(command);
  // Sealed, and the one that has no answer is said.
  expect(run, run.stderr).toMatchObject({ exitCode: 1 });
  const { rungs } = await requireManifest(dir);
  expect(rungs.length).toBeGreaterThan(1);
  const { index, ledger, results } = await readRecord(dir);
  expect(ledger.countByOutcome()).toMatchObject({ rejected: 1, engine_error: 0, timed_out: 0 });
  expect(ledger.finalCount).toBe(index.count);
  const { contextTokens, continuationTokens } = index.columns;
  const length = (contextTokens[17] ?? NaN) + (continuationTokens[17] ?? NaN);
  expect(results.filter(({ outcome }) => outcome === 'rejected')).toMatchObject([
    { row: 17, message: expect.stringMatching(new RegExp(`^oom: .*\\(prompt of ${length} tokens, wanted 800000000 bytes\\)$`)) },
  ]);
});

testInWorld('strict, which takes no smaller plan in mid-run, ends at the first lack of memory', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'row', row: 17, do: 'oom', bytes: 800_000_000 }], settings: { probe: false, determinism: 'strict' } });
  const run = await world.run([...command, '--json']);
  expect(run.exitCode, run.stderr).toBe(4);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'PROBE_OOM' } });
  expect(lastLines(run.stderr, 2)[1]).toMatch(/max_num_batched_tokens=\d+,max_num_seqs=\d+ in model_args/);
  expect((await listEvents(dir)).filter(({ type }) => type === 'attempt_failed')).toHaveLength(1);
});
