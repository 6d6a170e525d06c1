import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { python } from './environment.ts';
import { cloneDir, requireOrSkip } from './requirements.ts';

type Row = { split: string; question?: string; choices?: string[]; answer?: number | string; shuffled?: number; passage?: string; code?: string };

const tasksDir = path.join(cloneDir, 'tasks');
const controlFile = path.join(cloneDir, 'test/fixtures/tasks/data/control.jsonl');
const readRows = (file: string): Row[] => readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
const readTask = (name: string) => readRows(path.join(tasksDir, 'data', `${name}.jsonl`));
const runPython = (...args: string[]) => spawnSync(python, args, { encoding: 'utf8', cwd: cloneDir, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });

describe('the demo tasks', () => {
  it('are what their generator writes, byte for byte', () => {
    const { status, stdout, stderr } = runPython('tasks/generate.py', '--check');
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('make 400 requests', () => {
    const choices = ['letters', 'facts'].flatMap((name) => readTask(name).filter((row) => row.split === 'test').map((row) => row.choices?.length ?? 0));
    const generated = ['short', 'maths', 'long'].flatMap((name) => readTask(name).filter((row) => row.split === 'test'));
    expect(choices.reduce((sum, count) => sum + count, 0) + generated.length).toBe(400);
  });

  it('never show a question of the test as an example', () => {
    for (const name of ['letters', 'short', 'maths']) {
      const rows = readTask(name);
      const asked = new Set(rows.filter((row) => row.split === 'test').map((row) => row.question));
      expect(rows.filter((row) => row.split === 'fewshot' && asked.has(row.question))).toEqual([]);
    }
  });

  it('offer four different choices each', () => {
    for (const row of [...readTask('letters'), ...readTask('facts'), ...readRows(controlFile)]) expect(new Set(row.choices).size).toBe(4);
  });

  it('hide the code that is asked for in every passage, once', () => {
    for (const row of readTask('long')) expect(row.passage?.split(` ${row.code}.`)).toHaveLength(2);
  });
});

describe('LaTeX answers', () => {
  requireOrSkip('the Python environment', python !== 'python3', 'math-verify scores them; `npm run setup` installs it');

  it('are scored by value', () => {
    const script = [
      'import json, sys; sys.path.insert(0, "tasks"); from maths import process_results',
      'doc = {"answer": r"$\\frac{1}{2}$"}',
      'answers = [r" $\\frac{1}{2}$", r"$\\frac{2}{4}$", r"$0.5$", r"$\\frac{1}{3}$", "none", "", "$1$\\n$\\\\frac{1}{2}$"]',
      'print(json.dumps([process_results(doc, [answer])["math_verify"] for answer in answers]))',
    ];
    const { stdout, stderr } = runPython('-c', script.join('\n'));
    expect(JSON.parse(stdout || stderr)).toEqual([1, 1, 1, 0, 0, 0, 0]);
  });
});

describe('the shuffled control', () => {
  it('keeps the share of every choice and agrees with the right answers by chance alone', () => {
    const rows = readRows(controlFile);
    const share = (key: 'answer' | 'shuffled', place: number) => rows.filter((row) => row[key] === place).length;
    for (const place of [0, 1, 2, 3]) expect(share('shuffled', place)).toBe(share('answer', place));
    const agreeing = rows.filter((row) => row.shuffled === row.answer).length / rows.length;
    expect(Math.abs(agreeing - 0.25)).toBeLessThan(4 * Math.sqrt((0.25 * 0.75) / rows.length));
  });
});
