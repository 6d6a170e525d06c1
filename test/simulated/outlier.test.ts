// One document of two tasks is far longer than the others, and the last of its data. What it takes is found out before the first
// request; without the probe the first step of all meets it, and not the end of a long run.
import { readFileSync, writeFileSync } from 'node:fs';
import { buildRunPaths } from '@assay/store';
import { type AssayWorld, demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, readRecord } from '../support/run-record.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const DOCUMENTS = 200;
const LONG_WORDS = 1_500;
const BUDGET = 64;

/** Scores and generates over the same documents, on an engine whose memory holds steps of 1,000 tokens. */
function prepare(world: AssayWorld, probe: boolean) {
  const dir = world.path('run');
  const data = world.path('documents.jsonl');
  const documents = Array.from({ length: DOCUMENTS }, (_, number) => ({ text: `${number}${' word'.repeat(number === DOCUMENTS - 1 ? LONG_WORDS : 20)}`, answer: number % 2 }));
  writeFileSync(data, documents.map((document) => `${JSON.stringify(document)}\n`).join(''));
  const task = { dataset_path: 'json', dataset_kwargs: { data_files: { test: data } }, test_split: 'test', doc_to_text: '{{text}}', metadata: { version: 1 } };
  const tasks = [
    world.writeConfig('scored.yaml', { ...task, task: 'scored', output_type: 'multiple_choice', doc_to_choice: ['yes', 'no'], doc_to_target: 'answer' }),
    world.writeConfig('written.yaml', { ...task, task: 'written', output_type: 'generate_until', doc_to_target: '{{answer}}', generation_kwargs: { until: ['\n'], max_gen_toks: BUDGET } }),
  ];
  const config = world.writeConfig('run.yaml', {
    model: 'simulated', tasks, probe,
    model_args: { pretrained: demoModel, max_model_len: 4096, max_num_seqs: 8, memory: { bytesPerToken: 1_000, limitBytes: 1_000_000 } },
  });
  return { dir, command: ['run', '--config', config, '--output_path', dir] };
}

testInWorld('the probe runs the longest context with its budget, for scoring and for generation, and no request runs out of memory', async (world, { expect }) => {
  const { dir, command } = prepare(world, true);
  const run = await world.run(command);
  expect(run.exitCode, run.stderr).toBe(0);
  const { rungs } = JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')) as { rungs: { verdict: string }[] };
  expect(rungs.map(({ verdict }) => verdict)).toEqual([...rungs.slice(1).map(() => 'oom'), 'fits']);
  expect(rungs.length).toBeGreaterThan(1);
  expect((await listEvents(dir)).filter(({ type }) => type === 'attempt_failed')).toEqual([]);
});

testInWorld('without the probe memory runs out in the first step, before there is a result, or never', async (world, { expect }) => {
  const { dir, command } = prepare(world, false);
  const run = await world.run(command);
  expect(run.exitCode, run.stderr).toBe(0);
  const events = await listEvents(dir);
  const fenced = events.flatMap((event) => (event.type === 'shard_fenced' ? [event.bytes] : []));
  expect(fenced.length).toBeGreaterThan(0);
  expect(fenced.every((bytes) => bytes === 0)).toBe(true);
  const kinds = events.map(({ type }) => type);
  expect(kinds.lastIndexOf('attempt_failed')).toBeLessThan(kinds.indexOf('shard_done'));
  const { index, ledger } = await readRecord(dir);
  expect(ledger.finalCount).toBe(index.count);
});
