// The two tiers that promise bits, on the real engine: `isolated` results depend on their request alone, `strict` runs of the same
// requests repeat. Whether a strict subset has the bits of the whole is promised by nothing, and not compared.
import { readFileSync } from 'node:fs';
import { buildRunPaths } from '@assay/store';
import { expect } from 'vitest';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { killQuietly } from '../support/process-table.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { findEngine, readRecord, waitForEvent, waitForNextShard } from '../support/run-record.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

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

let reference: Promise<Answers> | undefined;

/** Of one worker, undisturbed. The first test that needs it runs it, beside one that does not. */
function findReference(): Promise<Answers> {
  reference ??= runAlone();
  return reference;
}

async function runAlone(): Promise<Answers> {
  const world = new AssayWorld();
  try {
    const answers = await runToEnd(world, prepare(world, 'isolated', { determinism: 'isolated', limit: 8 }, 1));
    expect(Object.keys(answers)).toHaveLength(40);
    return answers;
  } finally {
    await world.remove();
  }
}

// The longest first, so that it does not end alone.
testInWorld('strict: a rerun of a subset in another order, with two workers, an engine and the run killed in between, and one worker to the end gives the same bits', async (world) => {
  const samples = { assay_short: [0, 2, 3, 5, 6, 7, 8, 10, 11, 13, 14, 16], assay_letters: [1, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 17] };
  const calm = await runToEnd(world, prepare(world, 'strict', { determinism: 'strict', samples }, 1));
  expect(Object.keys(calm)).toHaveLength(60);
  const shuffled = { assay_letters: samples.assay_letters.toReversed(), assay_short: samples.assay_short.toReversed() };
  const settings: Settings = { determinism: 'strict', tasks: ['assay_letters', 'assay_short'], samples: shuffled };
  expect(await runDisturbed(world, 'again', { settings, killsEngine: true })).toEqual(calm);
});

testInWorld('isolated: subsets in another order, over two workers, give the same bits', async (world) => {
  const whole = await findReference();
  const samples = { assay_letters: [5, 1, 6], assay_short: [7, 0, 3] };
  const found = await runToEnd(world, prepare(world, 'subset', { determinism: 'isolated', tasks: ['assay_letters', 'assay_short'], samples }, 2));
  expect(Object.keys(found)).toHaveLength(15);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, whole[name]])));
});

testInWorld('isolated: two workers, a kill in between and one worker to the end give the same bits', async (world) => {
  expect(await runDisturbed(world, 'killed', { settings: { determinism: 'isolated', limit: 8 }, killsEngine: false })).toEqual(await findReference());
});
