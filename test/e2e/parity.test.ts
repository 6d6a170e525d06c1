// Parity with lm_eval's own vLLM backend on real tasks, float32. In CI 20 questions a subject and 10 of GSM8K, some six minutes;
// elsewhere fewer. bench/parity runs all of them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readNodeFacts } from '@assay/pipeline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Parity, runBothSides } from '../../bench/parity/both-sides.ts';
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip, requireSharedData } from '../support/requirements.ts';

const data = requireSharedData();
const isReady = requireOrSkip('the set-up', demoModel !== undefined, '`npm run setup` builds the engine and the model');
const isCi = process.env['CI'] === 'true';
const QUESTIONS = isCi ? 20 : 4;
const TEXTS = isCi ? 10 : 3;
/** Subjects asked for a letter (m_) and for a choice's full text (c_). */
const SUBJECTS = 6;
const SUMS = SUBJECTS * QUESTIONS * 4;
/** Samples of GSM8K stand there once for each of its two filters. */
const SAMPLES = SUBJECTS * QUESTIONS + 2 * TEXTS;
const MOST_SUM_DIFFERENCE = 1e-3;
const MOST_OTHER_TEXTS = 0.05;
let folder: string;
let parity: Parity;

beforeAll(async () => {
  if (!isReady || data === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'assay-parity-'));
  const includePath = join(data, 'tasks');
  const tasks = readdirSync(includePath).map((name) => name.replace(/\.yaml$/, '')).filter((name) => /^(m|c)_|^g_gsm8k$/.test(name));
  const samples = Object.fromEntries(tasks.map((task) => [task, Array.from({ length: task.startsWith('g_') ? TEXTS : QUESTIONS }, (_, place) => place)]));
  const { cpus: [first, second] } = await readNodeFacts(process.env);
  const sides = await runBothSides({ tasks, includePath, samples, folder, ...(first === undefined || second === undefined ? {} : { cores: [first, second] }) });
  parity = sides.parity;
  console.log(`${sides.report}\nassay ${sides.assaySeconds.toFixed(0)} s, lm_eval ${sides.peerSeconds.toFixed(0)} s`);
});
afterAll(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test('requests are the same to the token', () => {
  expect({ requests: parity.requests, same: parity.same_tokens }).toEqual({ requests: SUMS + TEXTS, same: SUMS + TEXTS });
});

test('metrics are the same for every sample and in aggregate, digests of document, prompt and target too', () => {
  expect(parity.samples).toBe(SAMPLES);
  expect({ samples: parity.same_samples, metrics: parity.same_metrics }).toEqual({ samples: parity.samples, metrics: parity.metrics });
});

test('log-likelihood sums are the same but for rounding', () => {
  expect(parity.max_delta).toBeLessThanOrEqual(MOST_SUM_DIFFERENCE);
});

test('texts are the same, or listed and few', () => {
  expect(parity.generations).toBe(TEXTS);
  expect(parity.texts.length).toBeLessThanOrEqual(MOST_OTHER_TEXTS * TEXTS);
});

test('nothing else differs', () => {
  expect(parity.problems).toEqual([]);
});
