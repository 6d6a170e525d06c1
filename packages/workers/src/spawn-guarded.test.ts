import { join } from 'node:path';
import { expect, test } from 'vitest';
import { python } from '../../../test/support/environment.ts';
import { findErrorWhenStarved } from '../../../test/support/starved.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { spawnGuarded } from './spawn-guarded.ts';

const commandIn = (dir: string, interpreter: string) => ({ python: interpreter, command: ['true'], env: {}, logFile: join(dir, 'log') });

test.each([[1, 'its log can be opened and no pipe'], [4, 'one pipe can be made']])('a program that cannot be started for want of file descriptors is no missing Python: %i left, %s', async (left) => {
  const act = `spawnGuarded(${JSON.stringify(commandIn(makeTempDir(), python))})`;
  expect(await findErrorWhenStarved({ imports: { [join(import.meta.dirname, 'spawn-guarded.ts')]: '{ spawnGuarded }' }, left, act })).toBe('TOO_MANY_FILES');
});

test('an interpreter that is not there is a missing Python', () => {
  expect(() => spawnGuarded(commandIn(makeTempDir(), '/nowhere/python'))).toThrow(expect.objectContaining({ code: 'PYTHON_MISSING' }));
});
