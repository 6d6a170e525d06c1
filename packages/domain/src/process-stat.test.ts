import { expect, test } from 'vitest';
import { parseProcessStat } from './process-stat.ts';

const line = (name: string, state: string): string => `812 (${name}) ${state} 80 812 7 0 -1 4194560 1 0 0 0 3 4 0 0 20 0 9 0 55221 1000 200`;

test.each(['python', 'a b', '(sd-pam)', ') R 1 1 1', ''])('a process named %o is read all the same', (name) => {
  expect(parseProcessStat(line(name, 'S'))).toEqual({ isZombie: false, parent: 80, group: 812, startTicks: 55221 });
});

test('one that has ended is told from one that lives', () => {
  expect(parseProcessStat(line('python', 'Z')).isZombie).toBe(true);
});
