import { existsSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listConfigKeys } from '@assay/domain';
import { readEnvironment, resolveHome } from '@assay/store';
import { expect, test } from 'vitest';
import { LM_EVAL_MODELS } from '../config/models.ts';
import { ENGINE_ARGUMENTS, ENGINE_VERSION } from '../config/engine-arguments.ts';
import { FLAGS, isFlagText } from './flag-table.ts';
import { LM_EVAL_FLAGS, LM_EVAL_VERSION } from './lm-eval-flags.ts';

interface FlagList {
  lm_eval: string;
  flags: Record<string, string | null>;
}

const recorded = JSON.parse(await readFile(join(import.meta.dirname, 'lm-eval-flags.fixture.json'), 'utf8')) as FlagList;
const python = readEnvironment(resolveHome(process.env))?.python;
const hasPython = python !== undefined && existsSync(python);

test('every flag of lm_eval is in the table with its short form, and no other', () => {
  expect(recorded.lm_eval).toBe(LM_EVAL_VERSION);
  expect(Object.fromEntries(LM_EVAL_FLAGS.map((entry) => [entry.flag, entry.short ?? null]))).toEqual(recorded.flags);
});

test.skipIf(!hasPython)('the lm_eval that is installed has the recorded flags (no Python environment: skipped)', () => {
  const script = join(import.meta.dirname, 'list-lm-eval-flags.py');
  const live = JSON.parse(execFileSync(python as string, [script], { encoding: 'utf8' })) as FlagList & { models: string[] };
  expect(live.flags).toEqual(recorded.flags);
  expect(live.lm_eval).toBe(LM_EVAL_VERSION);
  expect(live.models).toEqual(LM_EVAL_MODELS);
}, 60_000);

test('every configuration key has a flag of its name', () => {
  expect(listConfigKeys().map(({ key }) => key).filter((key) => !FLAGS.some((entry) => entry.key === key && entry.flag === key))).toEqual([]);
});

test('a refused flag says why and what instead, a noted one what it becomes', () => {
  const silent = FLAGS.filter(({ status, reason, instead, note }) => (status === 'refused' && !(reason && instead)) || (status === 'noted' && !note));
  expect(silent.map(({ flag }) => flag)).toEqual([]);
});

test('names and short forms are unique', () => {
  const names = FLAGS.flatMap((entry) => [entry.flag, ...(entry.short ? [entry.short] : [])]);
  expect(new Set(names).size).toBe(names.length);
});

test.each([['--limit', true], ['--num-fewshot=5', true], ['-L', true], ['-5', false], ['gsm8k', false], ['--nothing', false]])('%s stands for a flag: %s', (text, is) => {
  expect(isFlagText(text)).toBe(is);
});

test('the engine\'s arguments are listed with their version', () => {
  expect(ENGINE_VERSION).toMatch(/^\d+\.\d+\.\d+$/);
  expect(ENGINE_ARGUMENTS).toContain('max_model_len');
  expect(ENGINE_ARGUMENTS).not.toContain('model');
});
