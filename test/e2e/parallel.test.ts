// One model under every layout this machine can run, on the real engine: the same scores as one worker, and evidence in the
// manifest that the replicas and ranks existed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rank } from '@assay/protocol';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { cloneDir, hasProgram, requireOrSkip } from '../support/requirements.ts';
import { readRecord, requireManifest } from '../support/run-record.ts';
import { readScores } from '../support/score-files.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const SUM_TOLERANCE = 1e-3;
/** SmolLM2-135M. */
const [LAYERS, HEADS] = [30, 9];

const world = new AssayWorld();
let alone: string;

beforeAll(async () => { if (isPresent) alone = await evaluate('alone', {}); });
afterAll(() => world.remove());

async function evaluate(name: string, plan: Record<string, number>): Promise<string> {
  const dir = world.path(name);
  const { exitCode, stderr } = await world.run(prepare(name, plan));
  expect(exitCode, stderr).toBe(0);
  return dir;
}

function prepare(name: string, plan: Record<string, number>): string[] {
  const config = world.writeConfig(`${name}.yaml`, {
    model: 'vllm', model_args: { pretrained: demoModel, dtype: 'float32', max_model_len: 512, max_num_seqs: 8, max_num_batched_tokens: 512 },
    tasks: ['assay_facts', 'assay_short'], include_path: `${cloneDir}/tasks`, limit: 4, plan,
  });
  return ['run', '--config', config, '--output_path', world.path(name)];
}

async function readRanks(dir: string): Promise<Rank[]> {
  const { engine } = await requireManifest(dir);
  return engine.effective.parallel.ranks;
}

async function expectSameScores(dir: string): Promise<void> {
  expect(metricsOf(dir)).toEqual(metricsOf(alone));
  const [own, others] = [(await readRecord(dir)).results, (await readRecord(alone)).results];
  const deltas = own.map(({ logprob }, row) => Math.abs(Number(logprob ?? 0) - Number(others[row]?.logprob ?? 0)));
  expect(deltas).toHaveLength(others.length);
  console.log(`largest difference of a log-likelihood: ${Math.max(...deltas).toExponential(1)}`);
  expect(Math.max(...deltas)).toBeLessThan(SUM_TOLERANCE);
}

/** Each sample's metric values, by task. */
function metricsOf(dir: string) {
  const { samples } = readScores(dir);
  return Object.fromEntries(Object.entries(samples).map(([task, lines]) => [task, lines.map((line) => line.metrics.map((name) => line[name]))]));
}

describe('two replicas', () => {
  test('give the scores of one, each in a process of its own', async () => {
    const dir = await evaluate('data-2', { data: 2 });
    await expectSameScores(dir);
    const { plan, workers } = await requireManifest(dir);
    expect(plan).toMatchObject({ data: 2, tensor: 1, pipeline: 1 });
    expect(new Set(workers.filter(({ role }) => role === 'engine').map(({ pid }) => pid)).size).toBe(2);
  });
});

describe('three tensor ranks on two cores', () => {
  test('give the scores of one worker; each held a third of the heads in a process of its own', async () => {
    const dir = await evaluate('tensor-3', { tensor: 3 });
    await expectSameScores(dir);
    expect((await requireManifest(dir)).plan).toMatchObject({ data: 1, tensor: 3, pipeline: 1 });
    const ranks = await readRanks(dir);
    expect(ranks.map(({ heads, layers }) => ({ heads, layers: layers.length }))).toEqual(Array.from({ length: 3 }, () => ({ heads: [HEADS / 3], layers: LAYERS })));
    expect(new Set(ranks.map(({ pid }) => pid)).size).toBe(3);
  });

  test('two are refused before any load, naming the heads and what they allow', async () => {
    const { exitCode, stderr } = await world.run(prepare('tensor-2', { tensor: 2 }));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/tensor=2: attention heads \(9\) cannot be divided by 2\nValid by its 9 heads: tensor=1, 3, 9/);
    expect(stderr).not.toContain('loading the model');
  });
});

describe('two pipeline stages', () => {
  const hasCompiler = requireOrSkip('a C++ compiler', hasProgram('g++') || hasProgram('clang++'), 'pipeline stages on CPU are compiled');

  test.runIf(hasCompiler)('give the scores of one worker; each held half of the layers in a process of its own', async () => {
    const dir = await evaluate('pipeline-2', { pipeline: 2 });
    await expectSameScores(dir);
    expect((await requireManifest(dir)).plan).toMatchObject({ data: 1, tensor: 1, pipeline: 2 });
    const ranks = await readRanks(dir);
    expect(ranks.flatMap(({ layers }) => layers).toSorted((a, b) => a - b)).toEqual(Array.from({ length: LAYERS }, (_, layer) => layer));
    expect(ranks.map(({ layers }) => layers.length)).toEqual([LAYERS / 2, LAYERS / 2]);
    expect(new Set(ranks.map(({ pid }) => pid)).size).toBe(2);
  });
});
