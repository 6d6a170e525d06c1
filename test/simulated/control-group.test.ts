// limits.kind: cgroup with the real kernel: it kills an engine that takes more than its group may, and that is out of memory, not a
// crash. The engine is the simulated one, which takes its memory for real.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildRunPaths } from '@assay/store';
import { MemoryGroups } from '@assay/workers';
import type { AssayWorld } from '../support/assay-world.ts';
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, readRecord, requireManifest, waitForEvent } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';
import { waitUntil } from '../support/wait-until.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');
const refusal = findRefusal();
requireOrSkip('a memory control group', refusal === undefined, refusal ?? '');

const LIMITS = { memory: '3GiB', kind: 'cgroup' };
const TOO_MUCH = 4 * 2 ** 30;

function findRefusal(): string | undefined {
  try {
    new MemoryGroups({ runId: `test-${process.pid}` }).close();
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

/** Groups of any run of these tests, wherever they were made. */
function findGroups(dir: string): string[] {
  const id = (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { id: string }).id;
  return readdirSync('/sys/fs/cgroup', { recursive: true, encoding: 'utf8' }).filter((path) => /\/?assay-[^/]+$/.test(path) && path.includes(id));
}

interface Rung { verdict: string; remembered?: boolean; plan: { maxNumBatchedTokens: number }; failure?: { class: string; where?: string; message: string } }

const readRungs = (dir: string): Rung[] => (JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')) as { rungs: Rung[] }).rungs;
/** Its worst step takes what the group has not. */
const prepareHungry = (world: AssayWorld) => prepareSimulated(world, { engine: { memory: { bytesPerToken: 5 * 2 ** 20, touch: true } }, settings: { limits: LIMITS } });

testInWorld('the kernel kills the engine in its probe: the next rung is taken, remembered, and no group stays', async (world, { expect }) => {
  const { dir, command } = prepareHungry(world);
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  const rungs = readRungs(dir);
  expect(rungs[0]).toMatchObject({ verdict: 'oom', failure: { class: 'oom', message: expect.stringContaining('the 3.00 GiB of limits.memory are used up') } });
  expect(rungs[0]?.failure?.where).toBeUndefined();
  expect(rungs.at(-1)).toMatchObject({ verdict: 'fits' });
  expect((await requireManifest(dir)).rungs).toHaveLength(rungs.length - 1);
  expect(findGroups(dir)).toEqual([]);

  const again = await world.run([...command.slice(0, -1), world.path('again')]);
  expect(again, again.stderr).toMatchObject({ exitCode: 0 });
  const remembered = readRungs(world.path('again'));
  expect(remembered.at(0)).toMatchObject({ verdict: 'oom', remembered: true });
  expect(remembered.at(-1)?.plan.maxNumBatchedTokens).toBe(rungs.at(-1)?.plan.maxNumBatchedTokens);
});

testInWorld('an engine that the group around it ends is not blamed on limits.memory, and its plan is tried again where there is room', async (world, { expect }) => {
  // Room for the engine alone, not for what else a run starts.
  const outer = new MemoryGroups({ runId: `around-${process.pid}` });
  const around = outer.make('all', Math.round(2.54 * 2 ** 30));
  try {
    const { dir, command } = prepareHungry(world);
    const inside = world.start(command);
    writeFileSync(around.limit!.membersFile, String(inside.pid));
    const run = await inside.ended;
    expect(run, run.stderr).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toMatch(/limits\.memory 3\.00 GiB is more than the 2\.54 GiB of the control group around it, which has .* left; the plan keeps to that/);
    const [first, ...others] = readRungs(dir);
    expect(first).toMatchObject({ verdict: 'oom', failure: { class: 'oom', message: expect.stringContaining('the 2.54 GiB of the control group around it are used up, before the 3.00 GiB of limits.memory are') } });
    expect(others.at(-1)).toMatchObject({ verdict: 'fits' });
    const outside = await world.run([...command.slice(0, -1), world.path('outside')]);
    expect(outside, outside.stderr).toMatchObject({ exitCode: 0 });
    const again = readRungs(world.path('outside'))[0];
    expect(again).not.toHaveProperty('remembered');
    expect(again?.plan.maxNumBatchedTokens).toBe(first?.plan.maxNumBatchedTokens);
  } finally {
    await around.remove();
    outer.close();
  }
});

testInWorld('the kernel kills the engine in mid-run: a rung is taken and nothing is lost', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, {
    faults: [{ at: 'row', row: 50, do: 'touch', bytes: TOO_MUCH, marker: world.path('struck') }], settings: { probe: false, limits: LIMITS },
  });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  expect((await requireManifest(dir)).rungs).toMatchObject([{ from: 0, to: 1, shard: expect.any(String), why: expect.stringContaining('SIGKILL by the kernel') }]);
  const { ledger } = await readRecord(dir);
  expect({ final: ledger.finalCount, duplicates: ledger.duplicates }).toEqual({ final: ledger.index.count, duplicates: 0 });
  expect(findGroups(dir)).toEqual([]);
});

testInWorld('an engine that somebody kills is no engine out of memory', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { faults: [{ at: 'row', row: 50, do: 'kill', marker: world.path('struck') }], settings: { limits: LIMITS } });
  const run = await world.run(command);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  expect((await requireManifest(dir)).rungs).toEqual([]);
  expect((await listEvents(dir)).filter(({ type }) => type === 'worker_ended')).toContainEqual(expect.objectContaining({ problem: expect.stringContaining('SIGKILL, not sent by Assay') }));
});

testInWorld('the group of a run that was killed goes with its next start', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { engine: { seconds_per_token: 0.0005 }, settings: { limits: LIMITS } });
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_started');
  expect(findGroups(dir)).toHaveLength(1);
  run.kill('SIGKILL');
  await run.ended;
  await waitUntil('the workers to end', () => world.processes().length === 0);
  expect(findGroups(dir)).toHaveLength(1);
  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  expect(findGroups(dir)).toEqual([]);
});
