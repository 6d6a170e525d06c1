import { describe, expect, test } from 'vitest';
import { hasProgram, requireOrSkip, requireSharedData } from './requirements.ts';

describe('with a requirement that is there', () => {
  requireOrSkip('a shell', hasProgram('sh'), 'every Linux has one');

  test('tests run', () => {
    expect(hasProgram('sh')).toBe(true);
  });
});

test('a missing requirement is a failure where skips are not allowed', () => {
  const before = process.env['ASSAY_NO_SKIP'];
  process.env['ASSAY_NO_SKIP'] = '1';
  try {
    expect(() => requireOrSkip('no-such-program', hasProgram('no-such-program'), 'it does not exist')).toThrow('no-such-program is missing');
  } finally {
    if (before === undefined) delete process.env['ASSAY_NO_SKIP'];
    else process.env['ASSAY_NO_SKIP'] = before;
  }
});

describe('with the shared data', () => {
  const dir = requireSharedData();

  test('its folder is known', () => {
    expect(dir).toMatch(/data$/);
  });
});
