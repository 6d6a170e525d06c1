import type { AnswerTally } from '@assay/protocol';
import { expect, test } from 'vitest';
import { describeAnswers, warnOfAnswers } from './answer-notes.ts';

const tally = (fields: Partial<AnswerTally>): AnswerTally => ({ truncatedDocuments: 0, generated: 0, unfinishedThoughts: 0, controlCharacters: 0, repeated: 0, copied: 0, ...fields });
const tell = (fields: Partial<AnswerTally>, lengthShare = 0) => ({ warnings: warnOfAnswers(tally(fields), lengthShare), notes: describeAnswers({ sums: lengthShare }, { sums: tally(fields) }) });

test('four of twenty answers that ended in thinking are a warning about the run that says 20 %, in the words of the table', () => {
  const { warnings, notes } = tell({ generated: 20, unfinishedThoughts: 4 });
  expect(warnings).toEqual([expect.stringContaining('20 % of the answers (4 of 20) ended inside the model\'s thinking and count as empty')]);
  expect(notes).toEqual([`! sums: ${warnings[0]}`]);
});

test('one of twenty stands below the table and is no warning: 5 % is not above 5 %', () => {
  expect(tell({ generated: 20, unfinishedThoughts: 1 })).toEqual({ warnings: [], notes: [expect.stringContaining('5 % of the answers (1 of 20)')] });
});

test.each([
  ['repeats are copies above 95 %', { repeated: 20, copied: 20 }, 0, 'the repeats of 20 of 20 requests are all the same text'],
  ['answers are cut at their budget above 5 %', { generated: 100 }, 0.06, '6 % of the answers were cut at their token budget'],
  ['any answer has control characters', { generated: 100, controlCharacters: 1 }, 0, 'control characters were left out of 1 answer before scoring'],
])('%s: a line below the table and a warning', (_, fields, lengthShare, text) => {
  const { warnings, notes } = tell(fields, lengthShare);
  expect(warnings).toEqual([expect.stringContaining(text)]);
  expect(notes).toEqual([`! sums: ${warnings[0]}`]);
});

test.each([[{ repeated: 20, copied: 19 }, 0], [{ generated: 20 }, 0.05], [{}, 0]])('nothing is said of %o with %f cut', (fields, lengthShare) => {
  expect(tell(fields, lengthShare)).toEqual({ warnings: [], notes: [] });
});

test('a cut prompt stands below the table; the warning is what rendering gave', () => {
  expect(tell({ truncatedDocuments: 2 })).toEqual({ warnings: [], notes: [expect.stringContaining('2 of its documents have prompts that were cut')] });
});

test('a task without a score yet is known by its cut answers', () => {
  expect(describeAnswers({ essays: 0.5 }, {})).toEqual([expect.stringMatching(/^! essays: 50 %/)]);
});
