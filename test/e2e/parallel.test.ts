// One model under every layout this machine can run, on the real engine: the same scores as one worker, and evidence in the
// manifest that the replicas and ranks existed.
import { existsSync, globSync } from 'node:fs';
import { readNodeFacts } from '@assay/pipeline';
import { buildRunPaths } from '@assay/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rank } from '@assay/protocol';
import { compareRuns, readSampleMetrics } from '../../bench/compare-runs.ts';
import { LAYOUTS, prepareLayout, runLayout, SUM_TOLERANCE } from '../../bench/parallel/layouts.ts';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { hasProgram, requireOrSkip } from '../support/requirements.ts';
import { listEvents, requireManifest } from '../support/run-record.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

/** SmolLM2-135M. */
const [LAYERS, HEADS] = [30, 9];

const world = new AssayWorld();
let alone: string;

beforeAll(async () => { if (isPresent) alone = await runLayout(world, 'alone', {}); });
afterAll(() => world.remove());

async function readRanks(dir: string): Promise<Rank[]> {
  const { engine } = await requireManifest(dir);
  return engine.effective.parallel.ranks;
}

async function expectSameScores(dir: string): Promise<void> {
  expect(readSampleMetrics(dir)).toEqual(readSampleMetrics(alone));
  const { maxDelta } = await compareRuns(dir, alone);
  console.log(`largest difference of a log-likelihood: ${maxDelta.toExponential(1)}`);
  expect(maxDelta).toBeLessThan(SUM_TOLERANCE);
}

describe('two replicas', () => {
  test('give the scores of one, each in a process of its own that did a part of the work', async () => {
    const dir = await runLayout(world, 'data-2', LAYOUTS.dp2);
    await expectSameScores(dir);
    const { plan, workers } = await requireManifest(dir);
    expect(plan).toMatchObject({ data: 2, tensor: 1, pipeline: 1 });
    expect(new Set(workers.filter(({ role }) => role === 'engine').map(({ pid }) => pid)).size).toBe(2);
    const busy = (await listEvents(dir)).flatMap((event) => (event.type === 'shard_started' ? [event.worker] : []));
    expect([...new Set(busy)].toSorted()).toEqual(['engine-0', 'engine-1']);
  });
});

describe('three tensor ranks on two cores', () => {
  test('give the scores of one worker; each held a third of the heads in a process of its own', async () => {
    const meetings = new Set<string>();
    const watch = setInterval(() => globSync(`${world.home}/sockets/*/*-*-*-*-*`).forEach((socket) => meetings.add(socket)), 200);
    const dir = await runLayout(world, 'tensor-3', LAYOUTS.tp3).finally(() => clearInterval(watch));
    // Were the ranks killed, their sockets would go with the run's folder.
    expect(meetings.size).toBeGreaterThan(0);
    expect(await world.findLeftovers()).toEqual([]);
    await expectSameScores(dir);
    expect((await requireManifest(dir)).plan).toMatchObject({ data: 1, tensor: 3, pipeline: 1 });
    const ranks = await readRanks(dir);
    expect(ranks.map(({ heads, layers }) => ({ heads, layers: layers.length }))).toEqual(Array.from({ length: 3 }, () => ({ heads: [HEADS / 3], layers: LAYERS })));
    expect(new Set(ranks.map(({ pid }) => pid)).size).toBe(3);
    const { cpus: [first, second, ...more] } = await readNodeFacts(process.env);
    // With more cores each rank has its own.
    if (more.length === 0) expect(ranks.map(({ affinity }) => affinity)).toEqual([[first], [second], [second]]);
  });

  test('two are refused before any load, naming the heads and what they allow', async () => {
    const { exitCode, stderr } = await world.run(prepareLayout(world, 'tensor-2', { tensor: 2 }));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/tensor=2: attention heads \(9\) cannot be divided by 2\nValid by its 9 heads: tensor=1, 3, 9/);
    const dir = world.path('tensor-2');
    expect(existsSync(buildRunPaths(dir).probe)).toBe(false);
    const events = await listEvents(dir);
    expect(events.filter(({ type }) => ['plan_chosen', 'probe_finished', 'shard_started'].includes(type))).toEqual([]);
    expect(events.flatMap((event) => (event.type === 'state_changed' ? [event.to] : []))).not.toContain('probing');
  });
});

describe('two pipeline stages', () => {
  const hasCompiler = requireOrSkip('a C++ compiler', hasProgram('g++') || hasProgram('clang++'), 'pipeline stages on CPU are compiled');

  test.runIf(hasCompiler)('give the scores of one worker; each held half of the layers in a process of its own', async () => {
    const dir = await runLayout(world, 'pipeline-2', LAYOUTS.pp2);
    await expectSameScores(dir);
    expect((await requireManifest(dir)).plan).toMatchObject({ data: 1, tensor: 1, pipeline: 2 });
    const ranks = await readRanks(dir);
    expect(ranks.flatMap(({ layers }) => layers).toSorted((a, b) => a - b)).toEqual(Array.from({ length: LAYERS }, (_, layer) => layer));
    expect(ranks.map(({ layers }) => layers.length)).toEqual([LAYERS / 2, LAYERS / 2]);
    expect(new Set(ranks.map(({ pid }) => pid)).size).toBe(2);
  });
});
