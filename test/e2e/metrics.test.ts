// The metrics of a real run on the real engine, scraped while it lasts.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { BUILD_INFO, METRICS, type MetricEntry } from '@assay/telemetry';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AssayWorld, demoModel, type Ended } from '../support/assay-world.ts';
import { cloneDir, hasProgram, requireOrSkip } from '../support/requirements.ts';
import { type Scrape, scrapeRun, sumSeries } from '../support/scrape.ts';

const isReady = requireOrSkip('the set-up', demoModel !== undefined, '`npm run setup` builds the engine and the model');
const world = new AssayWorld({ cwd: cloneDir });
const FINAL = ['ok', 'truncated', 'length', 'rejected'];
const LIMIT = 24;
let ended: Ended;
let scrapes: Scrape[];
let last: Scrape;

beforeAll(async () => {
  if (!isReady) return;
  const run = world.start([
    'run', '--tasks', 'assay_letters,assay_short', '--include_path', join(cloneDir, 'tasks'), '--limit', String(LIMIT), '--metrics', '127.0.0.1:0',
    '--model_args', `pretrained=${demoModel},dtype=bfloat16,max_model_len=2048`, '--output_path', world.path('run'),
  ]);
  scrapes = await scrapeRun(run);
  ended = await run.ended;
  expect(ended.exitCode, ended.stderr).toBe(0);
  last = scrapes.at(-1) as Scrape;
});
afterAll(() => world.remove());

const countFinal = (scrape: Scrape) => FINAL.reduce((sum, outcome) => sum + sumSeries(scrape, 'assay_requests', `outcome="${outcome}"`), 0);
const over = (name: string, ...labels: string[]) => scrapes.map((scrape) => sumSeries(scrape, name, ...labels));

test('every series of the catalogue is there at every scrape, and no other', () => {
  const names = (scrape: Scrape) => new Set([...scrape.values.keys()].map((series) => series.replace(/\{.*/, '').replace(/^(assay_shard_duration_seconds)_(bucket|sum|count)$/, '$1')));
  expect([...names(last)].sort()).toEqual([...Object.keys(METRICS), BUILD_INFO.name].sort());
  for (const { values } of scrapes) expect([...values.keys()]).toEqual([...last.values.keys()]);
});

test('every counter and every progress only rises, up to what was planned', () => {
  const counters = Object.entries<MetricEntry>(METRICS).filter(([, { type }]) => type === 'counter').map(([name]) => over(name));
  for (const values of [...counters, scrapes.map(countFinal)]) expect(values).toEqual(values.toSorted((a, b) => a - b));
  expect(new Set(scrapes.map(countFinal)).size).toBeGreaterThan(2);
  expect(countFinal(last)).toBe(sumSeries(last, 'assay_requests_planned'));
  expect(sumSeries(last, 'assay_requests_planned')).toBe(LIMIT * 4 + LIMIT);
});

describe('at the end', () => {
  test('shards, tasks and tokens add up', () => {
    const shards = sumSeries(last, 'assay_shards');
    expect(sumSeries(last, 'assay_shards', 'state="done"')).toBe(shards);
    expect(sumSeries(last, 'assay_shard_attempts_total', 'outcome="done"')).toBe(shards);
    expect(sumSeries(last, 'assay_shard_duration_seconds_count')).toBe(shards);
    expect(sumSeries(last, 'assay_results_total')).toBe(countFinal(last));
    expect(sumSeries(last, 'assay_tokens_total', 'direction="prompt"')).toBeGreaterThan(countFinal(last));
    expect(sumSeries(last, 'assay_shard_oldest_age_seconds')).toBe(0);
    expect(sumSeries(last, 'assay_warnings_total')).toBe(ended.stderr.split('\n').filter((line) => line.startsWith('warning: ')).length);
  });

  test('the probe said what it predicted and measured', () => {
    expect(sumSeries(last, 'assay_probe_verdict', 'verdict="fits"')).toBe(1);
    for (const name of ['assay_probe_duration_seconds', 'assay_probe_predicted_peak_bytes', 'assay_probe_measured_peak_bytes']) expect(sumSeries(last, name)).toBeGreaterThan(0);
    for (const role of ['engine', 'harness']) expect(sumSeries(last, 'assay_worker_peak_bytes', `role="${role}"`)).toBeGreaterThan(1e8);
  });

  test('the idle time has causes', () => {
    for (const cause of ['load', 'render']) expect(sumSeries(last, 'assay_idle_seconds_total', `cause="${cause}"`)).toBeGreaterThan(0);
  });
});

test('workers and tasks were seen in the states they went through', () => {
  const seen = (name: string, ...labels: string[]) => Math.max(...over(name, ...labels));
  for (const state of ['starting', 'loading', 'busy']) expect({ state, seen: seen('assay_workers', 'role="engine"', `state="${state}"`) }).toEqual({ state, seen: 1 });
  expect(seen('assay_workers', 'role="harness"', 'state="busy"')).toBe(1);
  expect(Math.max(...over('assay_workers'))).toBe(2);
  expect(seen('assay_workers', 'state="crashed"')).toBe(0);
  expect(seen('assay_tasks', 'state="open"')).toBe(2);
  expect(seen('assay_shard_oldest_age_seconds')).toBeGreaterThan(0);
  expect(seen('assay_requests_running')).toBeGreaterThan(1);
  for (const state of ['rendering', 'probing', 'running']) expect(seen('assay_run_state', `state="${state}"`)).toBe(1);
  for (const scrape of scrapes) expect(sumSeries(scrape, 'assay_run_state')).toBeLessThanOrEqual(1);
});

describe('for Prometheus', () => {
  requireOrSkip('promtool', hasProgram('promtool'), 'it checks the page\'s form; the package prometheus brings it');

  test('the page passes its linter', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: last.text, encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });
});
