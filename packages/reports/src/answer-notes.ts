// Lines below the table about answers that are less than they seem: cut, unfinished, copies.
import type { AnswerTally } from '@assay/protocol';
import { formatShare } from './format-numbers.ts';

// Above this share of cut answers a score says more about the budget than about the model.
const CUT_WARNING_SHARE = 0.05;

type Note = (tally: AnswerTally) => string | undefined;

const NOTES: readonly Note[] = [
  ({ truncatedDocuments: cut }) => (cut > 0 ? `${cut} of its documents ${cut === 1 ? 'has a prompt that was' : 'have prompts that were'} cut to fit the window; samples_*.jsonl has the tokens lost` : undefined),
  ({ unfinishedThoughts, generated }) => (unfinishedThoughts > 0 ? `${formatShare(unfinishedThoughts / generated)} of the answers (${unfinishedThoughts} of ${generated}) ended inside the model's thinking and count as empty` : undefined),
  ({ controlCharacters }) => (controlCharacters > 0 ? `control characters were left out of ${controlCharacters} answers before they were scored` : undefined),
  ({ repeated, copied }) => (repeated > 0 && copied === repeated ? 'its repeats are copies of one answer each' : undefined),
];

export function describeAnswers(lengthShare: Readonly<Record<string, number>>, answers: Readonly<Record<string, AnswerTally>>): string[] {
  return [
    ...Object.entries(lengthShare)
      .filter(([, share]) => share > CUT_WARNING_SHARE)
      .map(([task, share]) => `! ${task}: ${formatShare(share)} of the answers were cut at their token budget; a larger max_gen_toks may change the score`),
    ...Object.entries(answers).flatMap(([task, tally]) => NOTES.flatMap((note) => note(tally) ?? []).map((text) => `! ${task}: ${text}`)),
  ];
}
