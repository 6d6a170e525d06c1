import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listConfigKeys } from '@assay/domain';
import { describe, expect, test } from 'vitest';
import { python } from '../../../../test/support/environment.ts';
import { requireOrSkip } from '../../../../test/support/requirements.ts';
import { LM_EVAL_MODELS } from '../config/models.ts';
import { ENGINE_ARGUMENTS, ENGINE_VERSION } from '../config/engine-arguments.ts';
import { FLAGS, isFlagText } from './flag-table.ts';
import { LM_EVAL_FLAGS, LM_EVAL_VERSION } from './lm-eval-flags.ts';

interface FlagList {
  lm_eval: string;
  flags: Record<string, string | null>;
}

const recorded = JSON.parse(await readFile(join(import.meta.dirname, 'lm-eval-flags.fixture.json'), 'utf8')) as FlagList;

test('every flag of lm_eval is in the table with its short form, and no other', () => {
  expect(recorded.lm_eval).toBe(LM_EVAL_VERSION);
  expect(Object.fromEntries(LM_EVAL_FLAGS.map((entry) => [entry.flag, entry.short ?? null]))).toEqual(recorded.flags);
});

describe('the lm_eval that is installed', () => {
  requireOrSkip('the Python environment', python !== 'python3', 'lm_eval is in it; `npm run setup` makes it');

  test('has the recorded flags and models', () => {
    const script = join(import.meta.dirname, 'list-lm-eval-flags.py');
    const live = JSON.parse(execFileSync(python, [script], { encoding: 'utf8' })) as FlagList & { models: string[] };
    expect(live.flags).toEqual(recorded.flags);
    expect(live.lm_eval).toBe(LM_EVAL_VERSION);
    expect(live.models).toEqual(LM_EVAL_MODELS);
  }, 60_000);
});

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
