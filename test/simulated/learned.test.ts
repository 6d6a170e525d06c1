// What one run leaves in ASSAY_HOME for the next: where the search for a plan ended, and how fast the work goes. The probe itself
// is never spared.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIB } from '@assay/domain';
import { buildRunPaths } from '@assay/store';
import { type AssayWorld, demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, requireManifest, waitForNextShard } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

interface Rung {
  verdict: string;
  remembered?: boolean;
  seconds: number;
  plan: { maxNumBatchedTokens: number; maxNumSeqs: number };
  failure?: { message: string; where?: string };
}

const readRungs = (dir: string): Rung[] => JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')).rungs;
const verdictsOf = (rungs: readonly Rung[]) => rungs.map(({ verdict, remembered }) => (remembered ? `remembered ${verdict}` : verdict));

/** Runs the same configuration, each time as a new run. */
function prepareRuns(world: AssayWorld, engine: Record<string, unknown>, settings: Record<string, unknown> = {}) {
  // With a limit of its own a worker's room does not move with what the machine has free.
  const { config } = prepareSimulated(world, { engine, settings: { limits: { memory: 8 * GIB }, ...settings } });
  return async (name: string) => {
    const dir = world.path(name);
    return { dir, run: await world.run(['run', '--config', config, '--output_path', dir]) };
  };
}

testInWorld('the second run starts at the rung that the first one found, and still probes it on every replica', async (world, { expect }) => {
  const start = prepareRuns(world, { memory: { bytesPerToken: 1_000, limitBytes: 600_000 } }, { plan: { data: 2 } });
  const first = await start('first');
  expect(first.run, first.run.stderr).toMatchObject({ exitCode: 0 });
  const firstRungs = readRungs(first.dir);
  expect(firstRungs.length).toBeGreaterThan(1);
  expect(verdictsOf(firstRungs)).toEqual([...firstRungs.slice(1).map(() => 'oom'), 'fits']);

  const second = await start('second');
  expect(second.run, second.run.stderr).toMatchObject({ exitCode: 0 });
  const rungs = readRungs(second.dir);
  expect(verdictsOf(rungs)).toEqual([...rungs.slice(1).map(() => 'remembered oom'), 'fits']);
  expect(rungs.map(({ plan }) => [plan.maxNumBatchedTokens, plan.maxNumSeqs])).toEqual(firstRungs.map(({ plan }) => [plan.maxNumBatchedTokens, plan.maxNumSeqs]));
  expect(second.run.stderr).toContain('remembered from');
  const probed = (await listEvents(second.dir)).filter((event) => event.type === 'probe_finished');
  expect(probed).toMatchObject([{ verdict: 'fits', rung: rungs.length - 1 }, { verdict: 'fits', rung: rungs.length - 1 }]);
  const { order, plan, probe, rungs: taken } = await requireManifest(second.dir);
  // What the first run's answers took stands in the second one's order, and in its record.
  expect((await requireManifest(first.dir)).order).toMatchObject([{ epoch: 1 }]);
  expect((await requireManifest(first.dir)).order[0]).not.toHaveProperty('expectedNewTokens');
  expect(order).toMatchObject([{ epoch: 1, expectedNewTokens: { assay_short: expect.any(Number) } }]);
  expect(plan.rung).toBe(rungs.length - 1);
  expect(taken.length).toBe(rungs.length - 1);
  expect(taken.every(({ why }) => why.includes('remembered'))).toBe(true);
  expect(probe.rungs.map(({ remembered }) => remembered ?? false)).toEqual(rungs.map(({ remembered }) => remembered ?? false));
});

testInWorld('memory taken between two runs makes the second probe say oom and step down, although the plan fitted before', async (world, { expect }) => {
  const takenFile = world.path('taken');
  const start = prepareRuns(world, { memory: { bytesPerToken: 1_000, limitBytes: 3_000_000, takenFile } });
  const first = await start('first');
  expect(first.run, first.run.stderr).toMatchObject({ exitCode: 0 });
  expect(verdictsOf(readRungs(first.dir))).toEqual(['fits']);

  writeFileSync(takenFile, '2400000');
  const second = await start('second');
  expect(second.run, second.run.stderr).toMatchObject({ exitCode: 0 });
  const rungs = readRungs(second.dir);
  expect(verdictsOf(rungs)).toEqual([...rungs.slice(1).map(() => 'oom'), 'fits']);
  expect(rungs.length).toBeGreaterThan(1);
  expect(second.run.stderr).toContain('something else holds memory that was free then');
});

testInWorld('when all plans are remembered as too large, the smallest one is probed all the same', async (world, { expect }) => {
  const takenFile = world.path('taken');
  writeFileSync(takenFile, '100000000');
  const start = prepareRuns(world, { memory: { bytesPerToken: 1_000, limitBytes: 3_000_000, takenFile } });
  const first = await start('first');
  expect(first.run.exitCode, first.run.stderr).toBe(4);
  const tried = readRungs(first.dir).length;

  writeFileSync(takenFile, '0');
  const second = await start('second');
  expect(second.run, second.run.stderr).toMatchObject({ exitCode: 0 });
  expect(verdictsOf(readRungs(second.dir))).toEqual([...Array.from({ length: tried - 1 }, () => 'remembered oom'), 'fits']);
});

testInWorld('a run that was started keeps its plan whatever other runs have found since', async (world, { expect }) => {
  const takenFile = world.path('taken');
  const start = prepareRuns(world, { memory: { bytesPerToken: 1_000, limitBytes: 3_000_000, takenFile }, seconds_per_token: 0.0005 });
  const first = world.start(['run', '--config', world.path('run.yaml'), '--output_path', world.path('first')]);
  await waitForNextShard(first, world.path('first'));
  first.kill('SIGKILL');
  await first.ended;

  writeFileSync(takenFile, '2400000');
  expect((await start('second')).run).toMatchObject({ exitCode: 0 });
  writeFileSync(takenFile, '0');
  const resumed = await start('first');
  expect(resumed.run, resumed.run.stderr).toMatchObject({ exitCode: 0 });
  expect(verdictsOf(readRungs(resumed.dir))).toEqual(['fits']);
});

testInWorld('broken files of what was learned are passed over', async (world, { expect }) => {
  for (const name of ['memory', 'verdicts', 'speeds']) writeFileSync(join(world.home, `learned-${name}.json`), '{"schema":1,"entries":[');
  const { run } = await prepareRuns(world, {})('first');
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(readFileSync(join(world.home, 'learned-verdicts.json'), 'utf8'))).toMatchObject({ schema: 1, entries: [{ verdict: 'fits', engine: 'simulated' }] });
});
