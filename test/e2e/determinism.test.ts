// The two tiers that promise bits, on the real engine: `isolated` results depend on their request alone, `strict` runs repeat.
import { readFileSync } from 'node:fs';
import { buildRunPaths } from '@assay/store';
import { beforeAll, expect } from 'vitest';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { killQuietly } from '../support/process-table.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { findEngine, readRecord, waitForEvent, waitForNextShard } from '../support/run-record.ts';
import { testInWorld } from '../support/test-in-world.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

interface Settings {
  determinism: 'isolated' | 'strict';
  tasks?: string[];
  limit?: number;
  samples?: Record<string, number[]>;
}

/** What the engine said to each request, by prompt and continuation: the same request has another row in another run. */
type Answers = Record<string, { logprob: unknown; greedy: unknown; text: unknown }>;

function prepare(world: AssayWorld, name: string, { tasks = ['assay_short', 'assay_letters'], ...settings }: Settings, data: number) {
  const dir = world.path(name);
  const config = world.writeConfig(`${name}.yaml`, {
    model: 'vllm',
    model_args: { pretrained: demoModel, dtype: 'bfloat16', max_model_len: 1024, enforce_eager: true },
    tasks, include_path: `${cloneDir}/tasks`, ...settings,
  });
  return { dir, command: ['run', '--config', config, '--output_path', dir, '--plan', `data=${data}`] };
}

async function runToEnd(world: AssayWorld, { dir, command }: { dir: string; command: string[] }): Promise<Answers> {
  const ended = await world.run(command);
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
  expect(await world.findLeftovers()).toEqual([]);
  return readAnswers(dir);
}

async function readAnswers(dir: string): Promise<Answers> {
  const lines = readFileSync(buildRunPaths(dir).documents, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  const names = new Map(lines.map((line) => [line['row'], JSON.stringify([line['context'], line['continuation']])]));
  const { results } = await readRecord(dir);
  return Object.fromEntries(results.map(({ row, logprob, greedy, text }) => [names.get(row), { logprob, greedy, text }]));
}

/** Two workers; kills the run, and an engine before that if asked, each when one more shard is done. The same command ends it. */
async function runDisturbed(world: AssayWorld, name: string, { settings, killsEngine }: { settings: Settings; killsEngine: boolean }): Promise<Answers> {
  const { dir, command } = prepare(world, name, settings, 2);
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_done');
  if (killsEngine) {
    killQuietly((await findEngine(dir)) as number, 'SIGKILL');
    await waitForEvent(run, dir, 'attempt_failed');
    await waitForNextShard(run, dir);
  }
  run.kill('SIGKILL');
  expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
  const { index, ledger } = await readRecord(dir);
  expect(ledger.finalCount).toBeLessThan(index.count);
  return runToEnd(world, prepare(world, name, settings, 1));
}

let reference: Answers;

beforeAll(async () => {
  if (!isPresent) return;
  const world = new AssayWorld();
  try {
    reference = await runToEnd(world, prepare(world, 'isolated', { determinism: 'isolated', limit: 8 }, 1));
    expect(Object.keys(reference)).toHaveLength(40);
  } finally {
    await world.remove();
  }
});

testInWorld('isolated: subsets in another order, over two workers, give the same bits', async (world) => {
  const samples = { assay_letters: [5, 1, 6], assay_short: [7, 0, 3] };
  const found = await runToEnd(world, prepare(world, 'subset', { determinism: 'isolated', tasks: ['assay_letters', 'assay_short'], samples }, 2));
  expect(Object.keys(found)).toHaveLength(15);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, reference[name]])));
});

testInWorld('isolated: two workers, a kill in between and one worker to the end give the same bits', async (world) => {
  expect(await runDisturbed(world, 'killed', { settings: { determinism: 'isolated', limit: 8 }, killsEngine: false })).toEqual(reference);
});

testInWorld('strict: a rerun with two workers, an engine and the run killed in between, and one worker to the end gives the same bits', async (world) => {
  const settings: Settings = { determinism: 'strict', limit: 12 };
  const calm = await runToEnd(world, prepare(world, 'strict', settings, 1));
  expect(Object.keys(calm)).toHaveLength(60);
  expect(await runDisturbed(world, 'again', { settings, killsEngine: true })).toEqual(calm);
});
