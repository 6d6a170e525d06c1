import { describe, expect, test } from 'vitest';
import { AssayError } from './errors.ts';
import { canMove, isEndState, isResumable, isWorking, moveState, RUN_STATES, STATE_TABLES, type StateMachine } from './states.ts';

const machines = Object.entries(STATE_TABLES) as [StateMachine, Record<string, readonly string[]>][];

/** Every pair of states of every machine, with what the table says of it. */
const matrix = machines.flatMap(([machine, table]) => Object.keys(table).flatMap((from) =>
  Object.keys(table).map((to) => ({ machine, from, to, isAllowed: table[from]?.includes(to) ?? false }))));

test.each(matrix)('$machine: $from → $to is allowed: $isAllowed', ({ machine, from, to, isAllowed }) => {
  const logged: unknown[] = [];
  const move = () => moveState(machine, from, to, (entry) => logged.push(entry));
  expect(canMove(machine, from, to)).toBe(isAllowed);
  if (isAllowed) {
    expect(move()).toBe(to);
    expect(logged).toEqual([{ machine, from, to }]);
    return;
  }
  expect(move).toThrow(AssayError);
  expect(move).toThrow(`${machine} cannot go from ${from} to ${to}`);
  expect(logged).toEqual([]);
});

describe.each(machines)('%s', (machine, table) => {
  const states = Object.keys(table);

  test('moves only to states that it has', () => {
    expect(Object.values(table).flat().filter((to) => !states.includes(to))).toEqual([]);
  });

  test('reaches every state from its first one', () => {
    const reached = new Set([states[0] ?? '']);
    for (const state of reached) for (const next of table[state] ?? []) reached.add(next);
    expect(states.filter((state) => !reached.has(state))).toEqual([]);
  });

  test('can end from everywhere', () => {
    const ends = new Set(states.filter((state) => isEndState(machine, state) || table[state]?.every((next) => next === 'queued')));
    const endsSoon = (state: string, seen: string[]): boolean => ends.has(state)
      || (table[state] ?? []).some((next) => !seen.includes(next) && endsSoon(next, [...seen, next]));
    expect(states.filter((state) => !endsSoon(state, [state]))).toEqual([]);
  });

  test('knows no state of another machine by accident', () => {
    expect(canMove(machine, 'constructor', 'toString')).toBe(false);
    expect(canMove(machine, 'nowhere', states[0] ?? '')).toBe(false);
  });
});

test('a run that has not ended in some way has a process at work on it', () => {
  expect(Object.keys(RUN_STATES).filter(isWorking)).toEqual(['created', 'queued', 'rendering', 'planning', 'probing', 'running', 'paused', 'scoring']);
});

test('a resumed run starts again in the queue, a sealed one only without its manifest', () => {
  expect(Object.keys(RUN_STATES).filter(isResumable)).toEqual(['incomplete', 'interrupted', 'failed', 'canceled']);
  expect(canMove('run', 'sealed', 'queued')).toBe(true);
});
