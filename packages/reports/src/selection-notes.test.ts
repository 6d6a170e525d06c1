import { expect, test } from 'vitest';
import { findSelections, warnOfSelections } from './selection-notes.ts';

const size = (task: string, documents: number, documentsTotal: number) => ({ task, documents, documentsTotal });

test('a task of which only some documents were asked says how many it has, and which setting left out the others', () => {
  const selections = findSelections([size('part', 10, 60), size('chosen', 3, 40), size('whole', 5, 5)], { limit: 10, samples: { chosen: [0, 1, 2] } });
  expect(selections).toEqual({ part: { documents: 10, documentsTotal: 60, by: '--limit 10' }, chosen: { documents: 3, documentsTotal: 40, by: '--samples' } });
  expect(warnOfSelections(selections)).toEqual([
    '! part: 10 of 60 documents (--limit 10); not comparable with the score of a whole task',
    '! chosen: 3 of 40 documents (--samples); not comparable with the score of a whole task',
  ]);
});

test('a limit that no task reaches is not told', () => {
  expect(warnOfSelections(findSelections([size('small', 5, 5)], { limit: 100 }))).toEqual([]);
});

test('many tasks under one limit share a line', () => {
  const tasks = Array.from({ length: 57 }, (_, place) => size(`m_${place}`, 10, 100));
  expect(warnOfSelections(findSelections(tasks, { limit: 0.1 }))).toEqual(['! 57 tasks: 570 of 5700 documents (--limit 0.1); not comparable with the score of a whole task']);
});
