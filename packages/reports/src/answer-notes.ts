// What is to be said of answers that are less than they seem: cut, unfinished, copies. Below the table, and in the same words as
// warnings about the run where they are many: its manifest has those.
import type { AnswerTally } from '@assay/protocol';
import { formatShare } from './format-numbers.ts';

interface AnswerFacts extends AnswerTally {
  /** Share of the answers that were stopped by their token budget. */
  lengthShare: number;
}

interface Note {
  share: (facts: AnswerFacts) => number;
  /** Told below the table above this share, and as a warning above that one. */
  noteAbove: number;
  warnAbove: number;
  text: (facts: AnswerFacts) => string;
}

// Above this share a score says more about the budget than about the model.
const MANY = 0.05;
// Above this share of requests whose repeats are all one text, repeats say no more than one answer.
const NEARLY_ALL = 0.95;
const NEVER = 1;

const NO_ANSWERS: AnswerFacts = { truncatedDocuments: 0, generated: 0, unfinishedThoughts: 0, controlCharacters: 0, repeated: 0, copied: 0, lengthShare: 0 };

const divide = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

const NOTES: readonly Note[] = [
  {
    share: ({ lengthShare }) => lengthShare, noteAbove: MANY, warnAbove: MANY,
    text: ({ lengthShare }) => `${formatShare(lengthShare)} of the answers were cut at their token budget; a larger max_gen_toks may change the score`,
  },
  {
    // Rendering has warned of them already, request by request.
    share: ({ truncatedDocuments }) => Math.min(1, truncatedDocuments), noteAbove: 0, warnAbove: NEVER,
    text: ({ truncatedDocuments: cut }) => `${cut} of its documents ${cut === 1 ? 'has a prompt that was' : 'have prompts that were'} cut to fit the window; samples_*.jsonl has the tokens lost`,
  },
  {
    share: ({ unfinishedThoughts, generated }) => divide(unfinishedThoughts, generated), noteAbove: 0, warnAbove: MANY,
    text: ({ unfinishedThoughts, generated }) => `${formatShare(divide(unfinishedThoughts, generated))} of the answers (${unfinishedThoughts} of ${generated}) ended inside the model's thinking and count as empty; `
      + 'a larger max_gen_toks lets it finish, and think_end_token keeps stop strings out of its thoughts',
  },
  {
    share: ({ controlCharacters, generated }) => divide(controlCharacters, generated), noteAbove: 0, warnAbove: 0,
    text: ({ controlCharacters }) => `control characters were left out of ${controlCharacters} ${controlCharacters === 1 ? 'answer' : 'answers'} before scoring`,
  },
  {
    share: ({ copied, repeated }) => divide(copied, repeated), noteAbove: NEARLY_ALL, warnAbove: NEARLY_ALL,
    text: ({ copied, repeated }) => `the repeats of ${copied} of ${repeated} requests are all the same text, so metrics over repeats say no more than one answer does; `
      + 'temperature and do_sample in generation_kwargs decide whether answers are drawn',
  },
];

/** Warnings about one task's answers, without its name. */
export function warnOfAnswers(tally: AnswerTally, lengthShare: number): string[] {
  const facts = { ...tally, lengthShare };
  return NOTES.filter(({ share, warnAbove }) => share(facts) > warnAbove).map(({ text }) => text(facts));
}

/** Lines below the table. A task that has no score yet is known by its cut answers alone. */
export function describeAnswers(lengthShare: Readonly<Record<string, number>>, answers: Readonly<Record<string, AnswerTally>>): string[] {
  const tasks = [...new Set([...Object.keys(answers), ...Object.keys(lengthShare)])];
  return tasks.flatMap((task) => {
    const facts = { ...NO_ANSWERS, ...answers[task], lengthShare: lengthShare[task] ?? 0 };
    return NOTES.filter(({ share, noteAbove }) => share(facts) > noteAbove).map(({ text }) => `! ${task}: ${text(facts)}`);
  });
}
