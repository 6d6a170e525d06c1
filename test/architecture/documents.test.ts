// Tables that live in code and in a document: each must hold what the other does, no more and no less.
import { describe, expect, test } from 'vitest';
import { ERRORS, EXIT_CODES, STATE_TABLES } from '@assay/domain';
import { readFile } from '../support/source-tree.ts';

const errorsPage = readFile('docs/errors.md').text;
const statesPage = readFile('docs/states.md').text;

/** Cells of every table row in a text; "\|" is a bar inside a cell. */
function readRows(text: string): string[][] {
  return text.split('\n').filter((line) => line.startsWith('| ')).map((line) =>
    line.slice(2, -2).split(/ \| /).map((cell) => cell.replaceAll('\\|', '|').trim()));
}

const section = (page: string, title: string): string => page.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

describe('docs/errors.md', () => {
  const documented = new Map(readRows(errorsPage).filter(([code]) => code?.startsWith('`')).map(([code = '', what, remedy]) =>
    [code.replaceAll('`', ''), { what, remedy }]));

  test('lists exactly the codes of the table', () => {
    expect([...documented.keys()].toSorted()).toEqual(Object.keys(ERRORS).toSorted());
  });

  test.each(Object.entries(ERRORS))('says of %s what the program says', (code, { what, remedy }) => {
    expect(documented.get(code)).toEqual({ what, remedy });
  });

  test.each(Object.entries(ERRORS))('has %s under its kind and exit code', (code, { kind }) => {
    const heading = errorsPage.slice(0, errorsPage.indexOf(`\`${code}\``)).match(/^## (.*)$/gm)?.at(-1);
    expect(heading?.toLowerCase()).toBe(`## ${kind} (exit ${EXIT_CODES[kind]})`);
  });

  test('lists exactly the exit codes', () => {
    const rows = readRows(section(errorsPage, 'Exit codes')).filter(([exit]) => /^\d+$/.test(exit ?? ''));
    expect(Object.fromEntries(rows.map(([exit, name]) => [name, Number(exit)]))).toEqual(EXIT_CODES);
  });
});

describe.each(Object.entries(STATE_TABLES))('docs/states.md, %s', (machine, table) => {
  const text = section(statesPage, `${machine}\n`);

  test('draws exactly the moves of the table', () => {
    const drawn = [...text.matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(([, from, to]) => `${from} → ${to}`);
    const moves = Object.entries<readonly string[]>(table).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));
    expect(drawn.toSorted()).toEqual(moves.toSorted());
  });

  test('explains exactly its states', () => {
    const explained = readRows(text).map(([state = '']) => state).filter((state) => state.startsWith('`'));
    expect(explained.map((state) => state.replaceAll('`', '')).toSorted()).toEqual(Object.keys(table).toSorted());
  });
});
