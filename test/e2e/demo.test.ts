// The demo, end to end: one run of its suite through ./assay on the real engine, looked at from every side.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '@assay/protocol';
import { buildRunPaths } from '@assay/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AssayWorld, demoModel, type Ended } from '../support/assay-world.ts';
import { describeForecast } from '../support/forecast.ts';
import { python } from '../support/environment.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { readRecord, requireManifest } from '../support/run-record.ts';
import { readScoreFiles, type ScoreFiles } from '../support/score-files.ts';
import { type Scrape, scrapeRun } from '../support/scrape.ts';

const isReady = requireOrSkip('the set-up', demoModel !== undefined, '`npm run setup` builds the engine and the model');
const world = new AssayWorld({ cwd: cloneDir });
const dir = world.path('demo');
const userHome = world.path('user');
const TASKS = ['assay_facts', 'assay_letters', 'assay_long', 'assay_maths', 'assay_short'];
const REQUESTS = 400;
const CHANCE = 0.25;

let ended: Ended;
let scrapes: Scrape[];
let manifest: Manifest;
let scores: ScoreFiles;

/** Without the second kind of mean that stands beside a group's own: lm_eval knows one. */
function listRowsOfLmEval(): Manifest['scores']['rows'] {
  const keyOf = ({ task, metric, filter }: Manifest['scores']['rows'][number]) => [task, metric, filter].join(' ');
  return manifest.scores.rows.filter((row, place, rows) => rows.findIndex((other) => keyOf(other) === keyOf(row)) === place);
}

beforeAll(async () => {
  if (!isReady) return;
  const model = `pretrained=${demoModel},dtype=bfloat16,max_model_len=4096`;
  mkdirSync(userHome);
  const run = world.start(['run', '--config', 'tasks/demo.yaml', '--model_args', model, '--output_path', dir, '--metrics', '127.0.0.1:0'], { HOME: userHome });
  scrapes = await scrapeRun(run);
  ended = await run.ended;
  expect(ended.exitCode, ended.stderr).toBe(0);
  manifest = await requireManifest(dir);
  scores = readScoreFiles(dir);
});
afterAll(() => world.remove());

describe('the output', () => {
  test('is the table on stdout: a row for every metric of the results file, with its coverage', () => {
    const cells = ended.stdout.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const [, ...header] = cells.find((line) => line.includes('Tasks')) ?? [];
    expect(header.slice(0, 5)).toEqual(['Tasks', 'Version', 'Filter', 'n-shot', 'Metric']);
    const shown = cells.flatMap((line) => line.flatMap((cell, place) => (cell === '±' ? [Number(line[place - 1])] : [])));
    const known = manifest.scores.rows.map(({ value }) => Number(Number(value).toFixed(4)));
    expect(shown.toSorted()).toEqual(known.toSorted());
    expect(cells.filter((line) => line.includes('100 %')).length).toBe(manifest.scores.rows.filter(({ group }) => !group).length);
  });

  test('tells on stderr the plan and why, the probe\'s verdict with both peaks, the progress, the idle time and the run directory', () => {
    for (const part of [/^plan {4}/m, /^why {5}- /m, /^probe {3}fits: peak memory .* measured, .* predicted/m, /\| 400\/400 requests/, /^idle {4}/m]) expect(ended.stderr).toMatch(part);
    expect(ended.stderr).toContain(dir);
  });
});

test('nothing is written into the user\'s home: what libraries keep lies in ASSAY_HOME', () => {
  expect(readdirSync(userHome)).toEqual([]);
});

describe('the manifest', () => {
  test('follows its published schema, and lm_eval\'s table maker reads the results file', () => {
    const files = [scores.resultsFile, buildRunPaths(dir).manifest, join(cloneDir, 'docs/manifest.schema.json')];
    const { status, stdout, stderr } = spawnSync(python, [join(cloneDir, 'test/support/lm_eval_table.py'), ...files], { encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    for (const task of TASKS) expect(stdout).toContain(task);
    const shown = [...stdout.matchAll(/\|(0\.\d{4})\|±/g)].map(([, value]) => Number(value));
    // Four digits: Python rounds halves to even, so the last one may differ from ours.
    for (const { value } of listRowsOfLmEval()) expect(Math.min(...shown.map((other) => Math.abs(other - Number(value))))).toBeLessThanOrEqual(5.0001e-5);
    expect(shown.length).toBeGreaterThanOrEqual(listRowsOfLmEval().length);
    console.log(stdout);
  });

  test('accounts for every request', () => {
    expect(manifest.coverage).toEqual({ requests: REQUESTS, final: REQUESTS, answered: REQUESTS, share: 1 });
    expect(manifest.tasks.map(({ task }) => task).toSorted()).toEqual(TASKS);
    const outcomes = Object.values(manifest.outcomes).flatMap((counts) => Object.values(counts));
    expect(outcomes.reduce((sum, count) => sum + count, 0)).toBe(REQUESTS);
    expect(manifest.results).toMatchObject({ duplicates: 0, tornLines: 0, openTries: 0, failedAttempts: 0 });
  });

  test('tells of prompts of 100 to about 3,500 tokens, none of them cut', async () => {
    const { columns } = (await readRecord(dir)).index;
    const long = manifest.tasks.findIndex(({ task }) => task === 'assay_long');
    const lengths = [...columns.contextTokens].filter((_, row) => columns.task[row] === long).toSorted((one, other) => one - other);
    console.log(`assay_long: ${lengths.length} prompts of ${lengths[0]} to ${lengths.at(-1)} tokens`);
    expect(lengths[0]).toBeLessThan(150);
    expect(lengths.at(-1)).toBeGreaterThan(3200);
    expect(manifest.tasks.map(({ truncatedRequests }) => truncatedRequests)).toEqual(TASKS.map(() => 0));
    expect(manifest.batch.maxRunning).toBeGreaterThan(1);
  });

  test('has every process with its role, and the peak memory of those that have ended', () => {
    expect(manifest.workers.map(({ role }) => role).toSorted()).toEqual(['engine', 'harness', 'redis']);
    expect(manifest.workers.find(({ role }) => role === 'engine')?.peakBytes).toBeGreaterThan(2 ** 28);
  });

  test('has the times of the stages, the request phase among them', () => {
    const { requestPhaseSeconds, wallSeconds, stages } = manifest.timings;
    expect(requestPhaseSeconds).toBeGreaterThan(1);
    expect(requestPhaseSeconds).toBeLessThan(wallSeconds);
    for (const stage of ['render', 'plan', 'probe', 'request']) expect(stages[stage]).toBeGreaterThan(0);
    // Tasks are scored as soon as they are answered: at the end there may be less than a millisecond left to do.
    expect(stages['score']).toBeGreaterThanOrEqual(0);
  });

  test('shares the wall time out: computing, or idle for one cause', () => {
    const { wallSeconds, computingSeconds, causes, share } = manifest.idle;
    const idle = Object.values(causes).reduce((sum, seconds) => sum + seconds, 0);
    expect(Object.keys(causes).toSorted()).toEqual(['load', 'queue', 'render', 'score']);
    expect(computingSeconds + idle).toBeCloseTo(wallSeconds, 3);
    expect(share).toBeCloseTo(idle / wallSeconds, 6);
    console.log(`idle share ${share.toFixed(3)} of ${wallSeconds.toFixed(1)} s: ${Object.entries(causes).map(([cause, seconds]) => `${cause} ${(seconds / wallSeconds).toFixed(3)}`).join(', ')}`);
  });
});

test('probe.json lists every rung with verdict, and a predicted peak within a tenth of the measured one', () => {
  const { rungs } = JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')) as { rungs: { predictedBytes: number; measuredBytes: number }[] };
  expect(rungs.length).toBeGreaterThan(0);
  expect(rungs.at(-1)).toMatchObject({ verdict: 'fits', rung: rungs.length - 1 });
  for (const { predictedBytes, measuredBytes } of rungs) {
    expect(measuredBytes).toBeGreaterThan(2 ** 28);
    const error = predictedBytes / measuredBytes - 1;
    console.log(`peak memory predicted ${(error * 100).toFixed(1)} % off`);
    expect(Math.abs(error)).toBeLessThanOrEqual(0.1);
  }
});

test('the run took no more memory than its probe had shown', () => {
  const { rungs } = JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')) as { rungs: { measuredBytes: number }[] };
  const excess = Math.max(...manifest.workers.filter(({ role }) => role === 'engine').map(({ peakBytes }) => peakBytes ?? 0)) / (rungs.at(-1)?.measuredBytes ?? 0) - 1;
  console.log(`peak memory of the run ${(excess * 100).toFixed(1)} % above the probe's`);
  expect(excess).toBeLessThanOrEqual(0.1);
});

describe('the scores', () => {
  test('follow from the samples, by an independent script', () => {
    const { status, stdout, stderr } = spawnSync(python, [join(cloneDir, 'test/support/recompute.py'), buildRunPaths(dir).scoresDir], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stderr: '' });
    expect(stdout.split('\n').filter((line) => line.startsWith('agrees ')).length).toBe(listRowsOfLmEval().length);
  });

  test('stand on one sample a document and filter', () => {
    for (const { task, documents, filters } of manifest.tasks) {
      expect({ task, lines: scores.samples[task]?.length }).toEqual({ task, lines: documents * filters.length });
      expect(new Set(scores.samples[task]?.map(({ doc_id, filter }) => `${doc_id} ${filter}`)).size).toBe(documents * filters.length);
      expect(scores.results['n-samples'][task]?.effective).toBe(documents);
    }
  });

  test('are clearly above chance somewhere', () => {
    const facts = scores.results.results['assay_facts'] ?? {};
    expect(Number(facts['acc,none']) - 3 * Number(facts['acc_stderr,none'])).toBeGreaterThan(CHANCE);
  });
});

describe('the other commands', () => {
  const ask = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await world.run(args);
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };

  test('status tells that the run is over and every request final', async () => {
    expect(JSON.parse(await ask('status', dir, '--json'))).toMatchObject({
      state: 'sealed', alive: false, ended: null, epoch: 1, processes: [], requests: { total: REQUESTS, final: REQUESTS, duplicates: 0 }, open: { total: 0 },
    });
    expect(await ask('status', dir)).toMatch(/^state +sealed$[^]*^requests +400\/400 final \(100 %\)/m);
  });

  test('results shows the table that the run ended with', async () => {
    const table = ended.stdout.slice(ended.stdout.indexOf('|'), ended.stdout.lastIndexOf('|') + 1);
    expect(table.split('\n').length).toBeGreaterThan(TASKS.length);
    expect(await ask('results', dir)).toContain(table);
    expect(JSON.parse(await ask('results', dir, '--json'))).toMatchObject({ sealed: true, rows: manifest.scores.rows.map(({ task, metric, value }) => ({ task, metric, value })) });
  });

  test('logs ends with the seal, and shows what the engine printed', async () => {
    expect(await ask('logs', dir, '--lines', '20')).toMatch(/from=scoring to=sealed/);
    expect(await ask('logs', dir, '--worker', 'engine-0')).toContain('vLLM');
  });

  test('plan weighs the same run for eight cards that are not here', async () => {
    const model = `pretrained=${demoModel},dtype=bfloat16,max_model_len=4096`;
    const planned = JSON.parse(await ask('plan', '--config', 'tasks/demo.yaml', '--model_args', model, '--devices', '8xH100-80GB', '--json'));
    expect(planned).toMatchObject({ plan: { device: 'cuda', deviceSets: expect.any(Array) }, rendered: { requests: REQUESTS } });
    expect(planned.candidates.length).toBeGreaterThan(3);
  });
});

test('the time left was told all along', () => {
  const forecast = describeForecast(scrapes);
  console.log(forecast.line);
  expect(forecast.told).toBeGreaterThan(0);
  // Held to 15 % at every second on recorded runs (remaining-trace.test.ts); here others may use the machine meanwhile.
  expect(forecast.medianShare).toBeLessThan(0.3);
});
