import { AssayError, ERRORS, type ErrorCode, EXIT_CODES } from '@assay/domain';
import { expect, test } from 'vitest';
import { reportError } from './errors.ts';

function report(thrown: unknown, argv: string[] = []) {
  let [out, err] = ['', ''];
  const exitCode = reportError(thrown, {
    argv, cwd: '/', env: {}, stdout: { write: (text: string) => { out += text; } }, stderr: { write: (text: string) => { err += text; } },
  });
  return { exitCode, out, lines: err.trimEnd().split('\n') };
}

test('what happened, what to do, and nothing else', () => {
  const { exitCode, out, lines } = report(new AssayError('RUN_NOT_FOUND', { dir: '/runs/x' }));
  expect(lines).toEqual(['assay: no run at /runs/x', 'Give the path of a run directory; `assay run` prints it.']);
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
});

test.each(Object.keys(ERRORS) as ErrorCode[])('%s ends with the exit code of its kind, in two lines', (code) => {
  const { exitCode, lines } = report(new AssayError(code));
  expect(exitCode).toBe(EXIT_CODES[ERRORS[code].kind]);
  if (ERRORS[code].kind !== 'bug') expect(lines).toHaveLength(2);
});

test('anything that is not ours is a defect, with its stack', () => {
  const { exitCode, lines } = report(new TypeError('x is undefined'));
  expect(exitCode).toBe(70);
  expect(lines[0]).toBe('assay: x is undefined');
  expect(lines.length).toBeGreaterThan(3);
});

test('with --json the error is one object on stdout, secrets left out', () => {
  const { out } = report(new AssayError('REDIS_UNREACHABLE', { url: 'redis://me:secret@host', problem: 'refused' }), ['run', '--json']);
  expect(JSON.parse(out)).toMatchObject({ error: { code: 'REDIS_UNREACHABLE', kind: 'environment' } });
  expect(out).not.toContain('secret');
});
