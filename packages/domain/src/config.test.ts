import { describe, expect, test } from 'vitest';
import { effectiveDeterminism, runConfigSchema } from './config.ts';

describe('a configuration', () => {
  test('is complete without a key', () => {
    const config = runConfigSchema.parse({});
    expect(config).toMatchObject({ model: 'vllm', plan: 'auto', scoring: 'exact', overlong: 'truncate', trust_remote_code: false, batch_size: 'auto' });
    expect(config.seed).toEqual({ python: 0, numpy: 1234, torch: 1234, fewshot: 1234 });
  });

  test('reads sizes as people write them', () => {
    expect(runConfigSchema.parse({ limits: { memory: '5GiB' } }).limits.memory).toBe(5 * 2 ** 30);
  });

  test.each([
    [{ modle: 'vllm' }, 'modle'],
    [{ plan: { dat: 2 } }, 'dat'],
    [{ limits: { memroy: '5GiB' } }, 'memroy'],
    [{ seed: { python: 1 } }, 'seed'],
  ])('refuses %j', (config, key) => {
    expect(JSON.stringify(runConfigSchema.safeParse(config).error?.issues)).toContain(key);
  });

  test.each([
    ['limit', 0], ['limit', -1], ['num_fewshot', -1], ['num_fewshot', 1.5], ['batch_size', 'large'], ['batch_size', 0], ['determinism', 'fastest'],
    ['metrics', '9090'], ['request_timeout', 0], ['max_tries', 0], ['plan', 'auto:2'], ['limits', { memory: 'plenty' }], ['plan', { data: 0 }],
    ['overlong', 'ignore'], ['trust_remote_code', 'yes'],
  ])('refuses %s: %j', (key, value) => {
    expect(runConfigSchema.safeParse({ [key]: value }).success).toBe(false);
  });

  test.each([
    ['limit', 0.5], ['limit', 100], ['num_fewshot', 0], ['batch_size', 'auto:4'], ['batch_size', 8], ['metrics', '127.0.0.1:9090'], ['plan', { data: 2 }],
  ])('accepts %s: %j', (key, value) => {
    expect(runConfigSchema.safeParse({ [key]: value }).success).toBe(true);
  });

  test('describes every key', () => {
    expect(Object.entries(runConfigSchema.shape).filter(([, schema]) => !schema.description).map(([key]) => key)).toEqual([]);
  });
});

describe('determinism', () => {
  test.each([
    [{ batch_size: 1 }, 'isolated'], [{ batch_size: 'auto' }, 'fast'], [{ batch_size: 8 }, 'fast'], [{ batch_size: 1, determinism: 'fast' }, 'fast'],
    [{ determinism: 'strict' }, 'strict'],
  ])('%j means %s', (config, tier) => {
    expect(effectiveDeterminism(runConfigSchema.parse(config))).toBe(tier);
  });
});
