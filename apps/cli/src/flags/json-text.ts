// JSON written by hand, in a flag or a file: the same key twice is an error here, where JSON.parse keeps the last.
import { LineCounter, parseDocument } from 'yaml';
import { findDuplicateKey } from './duplicate-keys.ts';
import { FormProblem } from './key-values.ts';

/** Parses JSON strictly. Throws FormProblem with line and column. */
export function parseJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (thrown) {
    throw new FormProblem(`not valid JSON (${(thrown as Error).message}); JSON has double quotes around names and texts`);
  }
  const lineCounter = new LineCounter();
  const duplicate = findDuplicateKey(parseDocument(text, { lineCounter, uniqueKeys: false, schema: 'json' }).contents);
  if (duplicate) {
    const [first, second] = [duplicate.first, duplicate.second].map((offset) => lineCounter.linePos(offset));
    throw new FormProblem(`"${duplicate.key}" is there twice: at ${first?.line}:${first?.col} and ${second?.line}:${second?.col}`);
  }
  return value;
}
