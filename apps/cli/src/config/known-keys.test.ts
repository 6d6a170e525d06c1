import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { python } from '../../../../test/support/environment.ts';
import { requireOrSkip } from '../../../../test/support/requirements.ts';
import { ENGINE_ARGUMENTS } from './engine-arguments.ts';
import { findLevel, INNER_KEYS } from './known-keys.ts';

test.each([['temperature', 'gen_kwargs'], ['dtype', 'model_args'], ['pretrained', 'model_args'], ['memory', 'limits'], ['tensor', 'plan'], ['max_num_seqs', 'plan'], ['nothing', undefined]])(
  '%s belongs under %s', (key, level) => {
    expect(findLevel(key)).toBe(level);
  });

test('every level has known keys, none of them twice', () => {
  for (const [level, keys] of Object.entries(INNER_KEYS)) expect(new Set(keys).size, level).toBeGreaterThan(1);
});

describe('the vLLM that is installed', () => {
  requireOrSkip('the Python environment', python !== 'python3', 'vLLM is in it; `npm run setup` makes it');

  test('has the engine arguments of the list', () => {
    const fields = JSON.parse(execFileSync(python, [join(import.meta.dirname, 'list-engine-arguments.py')], { encoding: 'utf8' })) as string[];
    expect(ENGINE_ARGUMENTS.toSorted()).toEqual(fields.filter((field) => field !== 'model'));
  }, 60_000);
});
