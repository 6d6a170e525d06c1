import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { python } from './environment.ts';
import { cloneDir } from './requirements.ts';
import { makeTempDir } from './temp-dir.ts';

const date = '2026-01-01T00-00-00.000000';

const choice = (docId: number, target: number, likelihoods: number[], acc: number) => ({
  doc_id: docId,
  doc: {},
  target: String(target),
  arguments: Object.fromEntries(likelihoods.map((_, place) => [`gen_args_${place}`, { arg_0: 'Q', arg_1: ` ${'x'.repeat(place + 1)}` }])),
  filtered_resps: likelihoods.map((value) => [String(value), 'False']),
  filter: 'none',
  acc,
});
const maths = (docId: number, answer: string, response: string, score: number) => ({
  doc_id: docId, doc: { answer }, target: answer, arguments: {}, resps: [[response]], filtered_resps: [response], filter: 'none', math_verify: score,
});

const samples = {
  choices: [choice(0, 1, [-3, -1], 1), choice(1, 0, [-3, -1], 0), choice(2, 0, [-2, -2], 1), choice(3, 1, [-2, -2], 0)],
  maths: [maths(0, '$\\frac{1}{2}$', ' $\\frac{2}{4}$', 1), maths(1, '$3$', ' $4$', 0), maths(2, '$3$', 'three, I think', 0)],
};

/** Writes the files of one evaluation and runs the script on them. */
function recompute(reported: { acc: number; maths: number; group: number }) {
  const dir = makeTempDir();
  const results = {
    results: {
      choices: { sample_len: 4, 'acc,none': reported.acc, 'acc_stderr,none': 'N/A' },
      maths: { sample_len: 3, 'math_verify,none': reported.maths, 'math_verify_stderr,none': 1 / 3 },
    },
    groups: { all: { 'acc,none': reported.group } },
    group_subtasks: { all: ['choices', 'maths'] },
    configs: { choices: {}, maths: {} },
  };
  writeFileSync(path.join(dir, `results_${date}.json`), JSON.stringify(results));
  for (const [task, rows] of Object.entries(samples)) {
    writeFileSync(path.join(dir, `samples_${task}_${date}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  return spawnSync(python, [path.join(cloneDir, 'test/support/recompute.py'), dir], { encoding: 'utf8' });
}

it('agrees with metrics that follow from the samples, and counts what it cannot decide', () => {
  const { status, stdout } = recompute({ acc: 0.5, maths: 1 / 3, group: 0.5 });
  expect({ status, lines: stdout.trimEnd().split('\n').map((line) => line.slice(0, 28)) }).toEqual({
    status: 0,
    lines: ['agrees  choices acc,none: re', 'agrees  maths math_verify,no', 'agrees  all acc,none: report'],
  });
  expect(stdout).toContain('1 undecided');
});

it('fails on a metric that does not follow', () => {
  const { status, stdout } = recompute({ acc: 0.75, maths: 1 / 3, group: 0.5 });
  expect(status).toBe(1);
  expect(stdout).toContain('DIFFERS choices acc,none: reported 0.75, recomputed 0.5');
});

it('fails on a group whose mean does not follow from its tasks', () => {
  expect(recompute({ acc: 0.5, maths: 1 / 3, group: 0.4 }).stdout).toContain('DIFFERS all acc,none');
});

it('says so where there is nothing to compare', () => {
  const { status, stderr } = spawnSync(python, [path.join(cloneDir, 'test/support/recompute.py'), makeTempDir()], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 2, stderr: 'nothing to compare\n' });
});
