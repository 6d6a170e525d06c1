// A memory limit at the edge, on the real engine: one long prompt among short ones, scored as lm_eval scores. The engine says it
// is ready and would die of the long one; the probe finds that first, or the run recovers in the middle.
import { readFileSync, writeFileSync } from 'node:fs';
import { buildRunPaths } from '@assay/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AssayWorld, demoModel, type Ended } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { readRecord, requireManifest } from '../support/run-record.ts';
import { readScoreFiles } from '../support/score-files.ts';
import { createRandom } from '../support/seeded-random.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const WINDOW = 8192;
/** 4,096 rows over SmolLM2's 49,152 words, in float32. */
const LOGITS_BYTES = 805_306_368;
const SUM_TOLERANCE = 0.5;
const seed = Date.now() % 1_000_000;
const random = createRandom(seed);
const draw = (low: number, high: number) => Math.round(random.between(low, high));

const world = new AssayWorld();
let unlimited: string;

beforeAll(async () => {
  if (!isPresent) return;
  console.log(`seed ${seed}`);
  writeTask();
  unlimited = await evaluate('unlimited', {});
});
afterAll(() => world.remove());

/** " so" is one token: a question of n words has about as many tokens. */
function writeTask(): void {
  const longest = draw(8_000, 8_120);
  const lengths = [longest, ...Array.from({ length: 5 }, () => draw(20, 200))];
  const documents = lengths.map((words, number) => JSON.stringify({ question: `${number}${' so'.repeat(words)}`, answer: number % 2 ? ' so' : ' no' }));
  writeFileSync(world.path('data.jsonl'), `${documents.join('\n')}\n`);
  writeFileSync(world.path('edge.yaml'), JSON.stringify({
    task: 'edge', dataset_path: 'json', dataset_kwargs: { data_files: { test: world.path('data.jsonl') } }, test_split: 'test', output_type: 'loglikelihood',
    doc_to_text: '{{question}}', doc_to_target: '{{answer}}', metric_list: [{ metric: 'acc', aggregation: 'mean', higher_is_better: true }],
  }));
}

interface Settings {
  settings?: Record<string, unknown>;
  modelArgs?: Record<string, unknown>;
  flags?: string[];
}

async function succeed(command: 'run' | 'probe', name: string, { settings = {}, modelArgs = {}, flags = [] }: Settings): Promise<Ended> {
  const config = world.writeConfig(`${name}.yaml`, {
    model: 'vllm', model_args: { pretrained: demoModel, dtype: 'bfloat16', max_model_len: WINDOW, enforce_eager: true, ...modelArgs },
    tasks: [world.path('edge.yaml')], ...settings,
  });
  const ended = await world.run([command, '--config', config, '--output_path', world.path(name), ...flags]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  return ended;
}

async function evaluate(name: string, settings: Record<string, unknown>): Promise<string> {
  await succeed('run', name, { settings });
  return world.path(name);
}

interface Rung {
  verdict: string;
  plan: { maxNumBatchedTokens: number };
  failure?: { class: string; where: string; allocationBytes: number };
}

const readRungs = (dir: string): Rung[] => (JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')) as { rungs: Rung[] }).rungs;

/** Sums within the tolerance, flips listed, the aggregate within its own interval. */
async function expectSameScores(dir: string): Promise<void> {
  const [own, others] = [await readRecord(dir), await readRecord(unlimited)];
  expect(own.ledger).toMatchObject({ finalCount: own.index.count, duplicates: 0 });
  const deltas = own.results.map(({ logprob }, row) => Math.abs(Number(logprob) - Number(others.results[row]?.logprob)));
  const flips = own.results.filter(({ greedy }, row) => greedy !== others.results[row]?.greedy).map(({ row }) => row);
  console.log(`largest difference of a log-likelihood: ${Math.max(...deltas).toFixed(3)}; greedy flips: ${flips.length === 0 ? 'none' : flips.join(', ')}`);
  expect(Math.max(...deltas)).toBeLessThan(SUM_TOLERANCE);
  const [mine, theirs] = [dir, unlimited].map((each) => readScoreFiles(each).results.results['edge'] ?? {});
  expect(Math.abs(Number(mine?.['acc,none']) - Number(theirs?.['acc,none']))).toBeLessThanOrEqual(1.96 * Number(theirs?.['acc_stderr,none']));
}

test('at 5 GiB the probe finds the allocation that would fail, steps down to fewer batched tokens, and the run completes', async () => {
  const dir = await evaluate('limited', { limits: { memory: '5GiB' } });
  const rungs = readRungs(dir);
  expect(rungs[0]).toMatchObject({ verdict: 'oom', plan: { maxNumBatchedTokens: 4096 }, failure: { class: 'oom', where: 'logits', allocationBytes: LOGITS_BYTES } });
  expect(rungs.at(-1)).toMatchObject({ verdict: 'fits' });
  expect(rungs.at(-1)?.plan.maxNumBatchedTokens).toBeLessThan(4096);
  const { rungs: taken, plan } = await requireManifest(dir);
  expect(taken).toHaveLength(rungs.length - 1);
  expect(plan.maxNumBatchedTokens).toBe(rungs.at(-1)?.plan.maxNumBatchedTokens);
  await expectSameScores(dir);
});

test('without the probe the run recovers in the middle, and nothing is lost', async () => {
  const dir = await evaluate('unprobed', { limits: { memory: '5GiB' }, probe: false });
  const { rungs } = await requireManifest(dir);
  expect(rungs.length).toBeGreaterThan(0);
  expect(rungs[0]).toMatchObject({ shard: expect.any(String), why: expect.stringContaining(String(LOGITS_BYTES)) });
  await expectSameScores(dir);
});

test.each([
  ['6 GiB', { limits: { memory: '6GiB' } }, {}],
  ['5 GiB with 1,024 batched tokens asked for', { limits: { memory: '5GiB' } }, { max_num_batched_tokens: 1024 }],
])('at %s it fits, and no rung is taken', async (title, settings, modelArgs) => {
  const { stdout } = await succeed('probe', title.replace(/\W+/g, '-'), { settings, modelArgs, flags: ['--json'] });
  const { rungs } = JSON.parse(stdout) as { rungs: Rung[] };
  expect(rungs.map(({ verdict }) => verdict)).toEqual(['fits']);
});
