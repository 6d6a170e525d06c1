// A control of the whole path: shuffled gold answers must score at chance, the right ones of the same questions clearly above.
import type { Manifest } from '@assay/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { requireManifest } from '../support/run-record.ts';

const isReady = requireOrSkip('the set-up', demoModel !== undefined, '`npm run setup` builds the engine and the model');
const world = new AssayWorld({ cwd: cloneDir });
const CHANCE = 0.25;
const QUESTIONS = 150;
/** Standard errors on each side: a sound scorer leaves the interval in one of 370 drawings, and this one never changes. */
const WIDTH = 3;
let manifest: Manifest;

beforeAll(async () => {
  if (!isReady) return;
  const { exitCode, stderr } = await world.run([
    'run', '--tasks', 'control_right,control_shuffled', '--include_path', 'test/fixtures/tasks', '--limit', String(QUESTIONS), '--probe', 'false',
    '--model_args', `pretrained=${demoModel},dtype=bfloat16,max_model_len=1024`, '--output_path', world.path('run'),
  ]);
  expect(exitCode, stderr).toBe(0);
  manifest = await requireManifest(world.path('run'));
});
afterAll(() => world.remove());

function readInterval(task: string): { low: number; high: number; line: string } {
  const row = manifest.scores.rows.find((each) => each.task === task && each.metric === 'acc');
  const [value, margin] = [Number(row?.value), WIDTH * Number(row?.stderr)];
  return { low: value - margin, high: value + margin, line: `${task}: acc ${value.toFixed(4)} ± ${margin.toFixed(4)} over ${QUESTIONS} questions` };
}

test('shuffled answers score at chance', () => {
  const { low, high, line } = readInterval('control_shuffled');
  console.log(line);
  expect(low).toBeLessThanOrEqual(CHANCE);
  expect(high).toBeGreaterThanOrEqual(CHANCE);
});

test('right answers score clearly above', () => {
  const { low, line } = readInterval('control_right');
  console.log(line);
  expect(low).toBeGreaterThan(CHANCE);
  expect(low).toBeGreaterThan(readInterval('control_shuffled').high);
});

test('both were asked the same', () => {
  const [right, shuffled] = ['control_right', 'control_shuffled'].map((name) => manifest.tasks.find(({ task }) => task === name));
  expect(right?.requests).toBe(4 * QUESTIONS);
  expect(shuffled?.promptsDigest).toBe(right?.promptsDigest);
});
