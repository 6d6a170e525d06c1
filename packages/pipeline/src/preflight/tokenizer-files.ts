// The tokenizer of a model folder: enough files to build one, and those that are there parse.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import { readModelJson } from './model-json.ts';

/** Any one of these sets makes a tokenizer. */
const TOKENIZER_SETS: readonly (readonly string[])[] = [
  ['tokenizer.json'], ['tokenizer.model'], ['vocab.json', 'merges.txt'], ['vocab.txt'], ['spiece.model'], ['sentencepiece.bpe.model'], ['tekken.json'],
  ['tiktoken.model'], ['vocab.json'],
];

const JSON_FILES = ['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'added_tokens.json', 'vocab.json'];

export async function checkTokenizerFiles(folder: string): Promise<void> {
  const names = await readdir(folder);
  // A tokenizer written in Python comes with the model; its files have names of their own.
  const hasOwnCode = names.some((name) => /^tokenization_.*\.py$/.test(name)) || names.some((name) => name.endsWith('.tiktoken'));
  const isComplete = TOKENIZER_SETS.some((set) => set.every((file) => names.includes(file)));
  if (!isComplete && !hasOwnCode) {
    throw new AssayError('MODEL_NOT_FOUND', { model: folder, problem: 'it has no tokenizer (tokenizer.json, tokenizer.model or vocab.json with merges.txt); name one with model_args tokenizer=PATH' });
  }
  for (const name of JSON_FILES.filter((file) => names.includes(file))) await readModelJson(join(folder, name));
}
