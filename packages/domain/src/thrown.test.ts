import { describe, expect, test } from 'vitest';
import { AssayError, EXIT_CODES } from './errors.ts';
import { toAssayError } from './thrown.ts';

describe('anything thrown becomes one class', () => {
  test('an AssayError stays itself', () => {
    const error = new AssayError('REDIS_MISSING');
    expect(toAssayError(error)).toBe(error);
  });

  test.each(['ENOSPC', 'EDQUOT'])('%s is a full disk', (code) => {
    expect(toAssayError(Object.assign(new Error('write'), { code })).code).toBe('DISK_FULL');
  });

  test.each([
    ['EISDIR', 'a folder is where a file belongs'],
    ['EFBIG', 'ulimit -f'],
  ])('%s is the file system\'s, and names the path', (code, said) => {
    const error = toAssayError(Object.assign(new Error('write'), { code, syscall: 'write', path: '/runs/a' }));
    expect(error).toMatchObject({ code: 'OUTPUT_NOT_WRITABLE', details: { dir: '/runs/a' } });
    expect(error.message).toContain(said);
  });

  test.each([['EMFILE', 'ulimit -n'], ['ENFILE', 'fs.file-max']])('%s is a want of file descriptors, wherever it was met', (code, said) => {
    const error = toAssayError(Object.assign(new Error('open'), { code, syscall: 'open', path: '/runs/a' }));
    expect(error).toMatchObject({ code: 'TOO_MANY_FILES', exitCode: EXIT_CODES.environment, message: expect.stringContaining(said) });
  });

  test('a file of ours that is missing where nobody expected it is a defect', () => {
    expect(toAssayError(Object.assign(new Error('open'), { code: 'ENOENT', syscall: 'open', path: '/x' })).code).toBe('BUG');
  });

  test.each([[new TypeError('x is not a function'), 'x is not a function'], ['text', 'text'], [undefined, 'undefined']])('%s is a defect', (thrown, message) => {
    const error = toAssayError(thrown);
    expect([error.code, error.message, error.exitCode]).toEqual(['BUG', message, EXIT_CODES.bug]);
  });
});
