// A memory limit at the edge, on the real engine: one long prompt among short ones, scored as lm_eval scores. The engine says it
// is ready and would die of the long one; the probe finds that first, or the run recovers in the middle. bench/memory-limit has the runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareRuns } from '../../bench/compare-runs.ts';
import { drawEdge, evaluateEdge, readRungs, type Rung, runEdge, SUM_TOLERANCE, writeEdgeTask } from '../../bench/memory-limit/edge-runs.ts';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { requireManifest } from '../support/run-record.ts';
import { readScoreFiles } from '../support/score-files.ts';

const isPresent = requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

/** 4,096 rows over SmolLM2's 49,152 words, in float32. */
const LOGITS_BYTES = 805_306_368;
const seed = Number(process.env['ASSAY_TEST_SEED'] ?? Date.now() % 1_000_000);
const { lengths, tightMib, tightControlMib, roomyMib } = drawEdge(seed);

const world = new AssayWorld();
let unlimited: string;

beforeAll(async () => {
  if (!isPresent) return;
  console.log(`seed ${seed}: ${lengths.join(', ')} tokens; limits of ${tightMib} MiB without the probe, ${roomyMib} MiB that fit, ${tightControlMib} MiB for 1,024 batched tokens`);
  writeEdgeTask(world, lengths);
  unlimited = await evaluateEdge(world, 'unlimited', {});
});
afterAll(() => world.remove());

/** Sums within the tolerance, flips listed, the aggregate within its own interval. */
async function expectSameScores(dir: string): Promise<void> {
  const { maxDelta, flips } = await compareRuns(dir, unlimited);
  console.log(`largest difference of a log-likelihood: ${maxDelta.toFixed(3)}; greedy flips: ${flips.length === 0 ? 'none' : flips.join(', ')}`);
  expect(maxDelta).toBeLessThan(SUM_TOLERANCE);
  const [mine, theirs] = [dir, unlimited].map((each) => readScoreFiles(each).results.results['edge'] ?? {});
  expect(Math.abs(Number(mine?.['acc,none']) - Number(theirs?.['acc,none']))).toBeLessThanOrEqual(1.96 * Number(theirs?.['acc_stderr,none']));
}

test('at 5 GiB the probe finds the allocation that would fail, steps down to fewer batched tokens, and the run completes', async () => {
  const dir = await evaluateEdge(world, 'limited', { limits: { memory: '5GiB' } });
  const rungs = readRungs(dir);
  expect(rungs[0]).toMatchObject({ verdict: 'oom', plan: { maxNumBatchedTokens: 4096 }, failure: { class: 'oom', where: 'logits', allocationBytes: LOGITS_BYTES } });
  expect(rungs.at(-1)).toMatchObject({ verdict: 'fits' });
  expect(rungs.at(-1)?.plan.maxNumBatchedTokens).toBeLessThan(4096);
  const { rungs: taken, plan } = await requireManifest(dir);
  expect(taken.length).toBe(rungs.length - 1);
  expect(plan.maxNumBatchedTokens).toBe(rungs.at(-1)?.plan.maxNumBatchedTokens);
  await expectSameScores(dir);
});

test('near 5 GiB and without the probe the run recovers in the middle, and nothing is lost', async () => {
  const dir = await evaluateEdge(world, 'unprobed', { limits: { memory: `${tightMib}MiB` }, probe: false });
  const { rungs } = await requireManifest(dir);
  console.log(rungs.map(({ why }) => why).join('\n'));
  expect(rungs.length).toBeGreaterThan(0);
  expect(rungs[0]).toMatchObject({ shard: expect.any(String), why: expect.stringContaining(String(LOGITS_BYTES)) });
  await expectSameScores(dir);
});

test.each([
  ['near 6 GiB', roomyMib, {}],
  ['near 5 GiB with 1,024 batched tokens asked for', tightControlMib, { max_num_batched_tokens: 1024 }],
])('%s it fits, and no rung is taken', async (title, mib, modelArgs) => {
  const settings = { limits: { memory: `${mib}MiB` } };
  const { stdout } = await runEdge(world, 'probe', title.replace(/\W+/g, '-'), { settings, modelArgs, flags: ['--json'] });
  const { rungs } = JSON.parse(stdout) as { rungs: Rung[] };
  expect(rungs.map(({ verdict }) => verdict)).toEqual(['fits']);
});
