// docs/protocol.md against the schemas, in both directions: every message, field, failure class and outcome, and no other.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { OUTCOMES } from '@assay/domain';
import { engineCommandSchema, FAILURE_CLASSES, harnessCommandSchema, INDEX_COLUMNS, resultSchema, workerEventSchema } from '@assay/protocol';
import { cloneDir } from '../support/requirements.ts';

type ObjectSchema = { shape: Record<string, { safeParse(value: unknown): { success: boolean } }> };

const page = readFileSync(path.join(cloneDir, 'docs', 'protocol.md'), 'utf8');

/** The first two cells of every row under a heading, or below one that starts with the given words. */
function readRows(heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `')).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
}

const names = (cell: string): string[] => cell.match(/[A-Za-z_]+\??/g) ?? [];

/** "name" or "name?" of every field but `type`. */
function listFields({ shape }: ObjectSchema): string[] {
  return Object.entries(shape).filter(([name]) => name !== 'type').map(([name, schema]) => `${name}${schema.safeParse(undefined).success ? '?' : ''}`);
}

test.each([
  ['Commands to an engine worker', engineCommandSchema],
  ['Commands to the harness worker', harnessCommandSchema],
  ['Events', workerEventSchema],
] as const)('%s are documented with their fields', (heading, { options }) => {
  const documented = readRows(heading).map(([type = '', fields = '']) => [...names(type), ...names(fields)]);
  const known = options.map((option) => [(option.shape.type as { value: string }).value, ...listFields(option as ObjectSchema)]);
  expect(documented).toEqual(known);
});

test('every field of a result and every outcome is documented', () => {
  const [fields, outcomes] = [readRows('A result').filter((row) => row.length === 3 && !names(row[0] ?? '').some((name) => name in OUTCOMES)), readRows('A result')];
  expect(fields.flatMap(([cell = '']) => names(cell)).toSorted()).toEqual(Object.keys(resultSchema.shape).toSorted());
  const documented = outcomes.filter(([cell = '']) => names(cell).some((name) => name in OUTCOMES));
  expect(documented.map(([cell = '', final = '', meaning = '']) => [names(cell)[0], final === 'yes', meaning]))
    .toEqual(Object.entries(OUTCOMES).map(([name, { final, meaning }]) => [name, final, meaning]));
});

test('every failure class is documented with what follows from it', () => {
  const documented = readRows('A failure').map(([cell = '', rung, restart, retry, remedy]) => [names(cell)[0], rung === 'no' ? false : rung, restart === 'yes', retry === 'yes', remedy]);
  expect(documented).toEqual(Object.entries(FAILURE_CLASSES).map(([name, { rung, restart, retry, remedy }]) => [name, rung, restart, retry, remedy]));
});

test('every column of the request index is documented, in order', () => {
  const columns = [...page.matchAll(/`(\w+)`/g)].map((match) => match[1] as string);
  const start = columns.indexOf('tokenOffset') + 1;
  expect(columns.slice(start, start + INDEX_COLUMNS.length)).toEqual([...INDEX_COLUMNS]);
});
