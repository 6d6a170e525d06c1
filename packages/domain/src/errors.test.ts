import { describe, expect, test } from 'vitest';
import { AssayError, ERRORS, EXIT_CODES } from './errors.ts';

describe('an error', () => {
  test('prints what happened and what to do, with its details filled in', () => {
    const error = new AssayError('FLAG_UNKNOWN', { flag: '--modle', nearest: 'Did you mean --model?' });
    expect(error.message).toBe('unknown flag --modle');
    expect(error.remedy).toBe('Did you mean --model?');
    expect(error.exitCode).toBe(EXIT_CODES.usage);
  });

  test('keeps text that looks like a template as it is', () => {
    const error = new AssayError('FLAG_UNKNOWN', { flag: '--x={flag}', nearest: '$&' });
    expect(error.message).toBe('unknown flag --x={flag}');
    expect(error.remedy).toBe('$&');
  });

  test('says "unknown" for a detail nobody gave, and never shows a placeholder', () => {
    expect(new AssayError('RUN_BUSY').message).toBe('unknown is in use by another process (pid unknown)');
  });

  test('has a general remedy where whoever throws knows no better one', () => {
    expect(new AssayError('MODEL_BROKEN', { model: 'm', problem: 'x' }).remedy).toBe('Fetch its files again, whole.');
    expect(new AssayError('MODEL_BROKEN', { model: 'm', problem: 'x', instead: 'Make it readable.' }).remedy).toBe('Make it readable.');
  });

  test('keeps its cause', () => {
    const cause = new Error('deeper');
    expect(new AssayError('BUG', { problem: 'x' }, { cause }).cause).toBe(cause);
  });
});

describe('the table', () => {
  test.each(Object.entries(ERRORS))('%s is named in capitals and has two one-line texts', (code, { what, remedy, kind }) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect([what, remedy].every((text) => text.length > 0 && !text.includes('\n'))).toBe(true);
    expect(EXIT_CODES).toHaveProperty(kind);
  });
});
