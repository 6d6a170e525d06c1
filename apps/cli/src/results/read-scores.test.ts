import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildSampleManifest } from '../../../../test/support/sample-manifest.ts';
import { makeSampleRun, type SampleRun } from '../testing/sample-run.ts';
import { listRows, readScores } from './read-scores.ts';

const RESULTS = {
  results: {
    first: { alias: 'first', name: 'first', sample_len: 5, 'acc,none': 0.25, 'acc_stderr,none': 0.1, 'acc_norm,none': 0.5, 'acc_norm_stderr,none': 'N/A' },
    all: { alias: 'all', 'acc,none': 'NaN' },
  },
  groups: { all: {} }, versions: { first: 2 }, 'n-shot': { first: 3 }, higher_is_better: { first: { acc: true } },
};
const SELECTIONS = { first: { documents: 5, documentsTotal: 60, by: '--limit 5' } };
/** Two requests were rejected: the share is that of the answers. */
const COVERAGE = { first: { requests: 50, final: 50, answered: 48, share: 0.96 } };

let folder: string;
let sample: SampleRun;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-scores-'));
  sample = await makeSampleRun(join(folder, 'run'), [0, 1]);
});
afterEach(async () => {
  await sample.events.close();
  sample.run.close();
  await rm(folder, { recursive: true });
});

test('lm_eval\'s results file becomes rows', () => {
  expect(listRows(RESULTS).map(({ task, metric, filter, value, stderr, version, numFewshot, higherIsBetter, group }) => (
    [task, metric, filter, value, stderr, version, numFewshot, higherIsBetter, group]
  ))).toEqual([
    ['first', 'acc', 'none', 0.25, 0.1, 2, 3, true, false],
    ['first', 'acc_norm', 'none', 0.5, null, 2, 3, null, false],
    ['all', 'acc', 'none', 'NaN', null, 'N/A', 'N/A', null, true],
  ]);
});

test('a run without scores says so, and in which state it is', async () => {
  await expect(readScores(sample.run)).rejects.toMatchObject({ code: 'SCORES_MISSING', message: expect.stringContaining('the run is running'), remedy: 'It is at work: `assay status` shows how far.' });
});

test('a sealed run whose results file is gone is still called sealed', async () => {
  await writeFile(sample.run.paths.manifest, '{}');
  await expect(readScores(sample.run)).rejects.toMatchObject({ code: 'SCORES_MISSING', message: expect.stringContaining('the run is sealed') });
});

test('of several results files the newest counts, and an unsealed run is marked', async () => {
  await writeFile(join(sample.run.paths.scoresDir, 'results_2026-01-01T00-00-00.json'), '{"results": {}}');
  await writeFile(join(sample.run.paths.scoresDir, 'results_2026-01-02T00-00-00.json'), JSON.stringify({ ...RESULTS, assay: { coverage: COVERAGE, selections: SELECTIONS } }));
  const scores = await readScores(sample.run);
  expect(scores).toMatchObject({ sealed: false, coverage: COVERAGE, selections: SELECTIONS });
  expect(scores.rows).toHaveLength(3);
});

test('of a sealed run the manifest tells of which tasks only some documents were asked', async () => {
  const manifest = buildSampleManifest();
  const [task] = manifest.tasks;
  await writeFile(join(sample.run.paths.scoresDir, 'results_2026-01-01T00-00-00.json'), '{"results": {}}');
  await writeFile(sample.run.paths.manifest, JSON.stringify({ ...manifest, config: { ...manifest.config, limit: 10 }, tasks: [{ ...task, documents: 10, documentsTotal: 60 }] }));
  expect(await readScores(sample.run)).toMatchObject({ sealed: true, selections: { t: { documents: 10, documentsTotal: 60, by: '--limit 10' } } });
});
