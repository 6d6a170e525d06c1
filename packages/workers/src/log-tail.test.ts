import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { findFirstError, readLogTail } from './log-tail.ts';

describe('the first error of a log', () => {
  const cases: [string, string[], string | undefined][] = [
    ['an exception before a logged error', ['ERROR something', 'ValueError: bad', 'KeyError: later'], 'ValueError: bad'],
    ['a qualified exception', ['torch.cuda.OutOfMemoryError: CUDA out of memory'], 'torch.cuda.OutOfMemoryError: CUDA out of memory'],
    ['a traceback logged line by line', ['(Worker_TP0 pid=3) ERROR 01-01 12:00:00 [x.py:1] AssertionError'], 'AssertionError'],
    ['a logged error where there is no exception', ['INFO fine', 'ERROR 01-01 12:00:00 [x.py:1] it broke'], 'it broke'],
    ['a fatal error of the interpreter', ['Fatal Python error: Aborted'], 'Fatal Python error: Aborted'],
    ['nothing in a healthy log', ['INFO loading', 'no errors so far'], undefined],
  ];
  test.each(cases)('is %s', (_, lines, expected) => {
    expect(findFirstError(lines)).toBe(expected);
  });
});

describe('the tail of a log', () => {
  test('leaves out what stood there before the mark, and keeps a progress bar\'s last state', () => {
    const file = join(makeTempDir(), 'log');
    writeFileSync(file, 'old\nOSError: new\r\nbar 1%\rbar 100%\n');
    expect(readLogTail(file, 4)).toEqual({ firstError: 'OSError: new', lines: ['OSError: new', 'bar 100%'] });
  });

  test('is empty for a program that said nothing', () => {
    expect(readLogTail(join(makeTempDir(), 'missing'), 0)).toEqual({ firstError: '', lines: [] });
  });
});
