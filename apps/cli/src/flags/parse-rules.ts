// How the text of a flag becomes a value: one function a rule. They say what is wrong with the text; whether the value is
// allowed is the schema's business.
import { readFileSync, statSync } from 'node:fs';
import { parseJsonText } from './json-text.ts';
import { FormProblem, type Mapping, parseKeyValues } from './key-values.ts';

/** All values of one flag, over all its occurrences. `bare`: it was given without a value last. */
export interface FlagTexts {
  texts: string[];
  bare: boolean;
}

type ParseRule = (given: FlagTexts) => unknown;

const last = ({ texts }: FlagTexts): string => texts.at(-1) ?? '';

const parseNumber = (text: string): number => {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw new FormProblem(`expected a number, found "${text}"`);
  return Number(text);
};

const SWITCH_WORDS: Record<string, boolean> = {
  true: true, yes: true, on: true, 1: true, false: false, no: false, off: false, 0: false,
};

function parseSwitch(given: FlagTexts): boolean {
  if (given.bare) return true;
  const word = last(given).toLowerCase();
  if (!Object.hasOwn(SWITCH_WORDS, word)) throw new FormProblem(`expected true or false, found "${last(given)}"`);
  return SWITCH_WORDS[word] as boolean;
}

function parseBooleanOrText(given: FlagTexts): boolean | string {
  if (given.bare) return true;
  const word = last(given).toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : last(given);
}

function parseMapping({ texts }: FlagTexts): Mapping {
  const merged: Mapping = {};
  for (const text of texts) Object.assign(merged, text.trimStart().startsWith('{') ? parseJsonMapping(text) : parseKeyValues(text));
  return merged;
}

function parseJsonMapping(text: string): Mapping {
  const value = parseJsonText(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new FormProblem('expected a JSON object');
  return value as Mapping;
}

/** 1.0 might mean one document or all of them; lm_eval takes it for one. Nobody has to know that here. */
function parseLimit(given: FlagTexts): number {
  const text = last(given);
  checkLimitText(text);
  return parseNumber(text);
}

export function checkLimitText(text: string): void {
  if (/^\+?1(\.0*|(\.0*)?e0+)$/i.test(text)) {
    throw new FormProblem(`${text} can mean one document or all of them: write 1 for one, or no limit for all`);
  }
}

function parseSeed(given: FlagTexts): unknown {
  return expandSeeds(last(given).split(',').map((part) => {
    const word = part.trim();
    return word.toLowerCase() === 'none' ? null : parseNumber(word);
  }));
}

/** One seed for all four, or all four, or the first three, as lm_eval reads them. */
export function expandSeeds(seeds: unknown[]): unknown {
  if (seeds.includes(null)) throw new FormProblem('None leaves a generator without a seed, so the run could not be repeated: give a number');
  if (seeds.length === 1) return { python: seeds[0], numpy: seeds[0], torch: seeds[0], fewshot: seeds[0] };
  if (seeds.length !== 3 && seeds.length !== 4) throw new FormProblem(`expected one number, or four: python,numpy,torch,fewshot; found ${seeds.length}`);
  const [python, numpy, torch, fewshot = 1234] = seeds;
  return { python, numpy, torch, fewshot };
}

/** A JSON mapping of task to document numbers, or the path of a file that holds one. */
export function parseSamples(text: string): Mapping {
  if (text.trimStart().startsWith('{')) return parseJsonMapping(text);
  if (!statSync(text, { throwIfNoEntry: false })?.isFile()) throw new FormProblem(`neither JSON such as {"task": [0, 1]} nor a file: ${text}`);
  try {
    return parseJsonMapping(readFileSync(text, 'utf8'));
  } catch (thrown) {
    if (thrown instanceof FormProblem) throw new FormProblem(`${text}: ${thrown.message}`);
    throw thrown;
  }
}

export const PARSE_RULES = {
  text: last,
  number: (given) => parseNumber(last(given)),
  boolean: parseSwitch,
  booleanOrText: parseBooleanOrText,
  list: ({ texts }) => texts.flatMap((text) => text.split(',')).map((text) => text.trim()).filter((text) => text !== ''),
  mapping: parseMapping,
  limit: parseLimit,
  seed: parseSeed,
  samples: (given) => parseSamples(last(given)),
  batchSize: (given) => (/^\d+$/.test(last(given)) ? Number(last(given)) : last(given)),
  plan: (given) => (last(given) === 'auto' ? 'auto' : parseMapping(given)),
} as const satisfies Record<string, ParseRule>;

export type RuleName = keyof typeof PARSE_RULES;
