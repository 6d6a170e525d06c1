import { AssayError, listConfigKeys } from '@assay/domain';
import { expect, test } from 'vitest';
import type { GivenFlags } from '../flags/read-flags.ts';
import { composeConfig } from './compose.ts';
import { parseConfigText } from './config-file.ts';

const BASE = 'model_args: {pretrained: /m}\ntasks: [a]\n';

function compose(text: string | undefined, values: GivenFlags['values'] = {}) {
  const flags = { configFile: undefined, values, verbosity: undefined, notes: [] };
  return composeConfig({ flags, file: text === undefined ? undefined : parseConfigText(text, 'run.yaml'), cwd: '/here' });
}

function refuse(text: string, values?: GivenFlags['values']): AssayError {
  try {
    compose(text, values);
  } catch (thrown) {
    if (thrown instanceof AssayError) return thrown;
    throw thrown;
  }
  throw new Error('it was accepted');
}

test('a value of the file holds unless a flag is given, and 0 is given', () => {
  const file = `${BASE}num_fewshot: 5\n`;
  expect(compose(file).config.num_fewshot).toBe(5);
  expect(compose(file, { num_fewshot: 0 }).config.num_fewshot).toBe(0);
  expect(compose(file, { num_fewshot: 3 }).config.num_fewshot).toBe(3);
});

test('every value says where it came from', () => {
  const { provenance } = compose(`${BASE}num_fewshot: 5\nlimit: 3\n`, { limit: 7 });
  expect(provenance).toMatchObject({ num_fewshot: 'run.yaml:3:1', limit: '--limit', probe: 'default', run_timeout: 'not set', tasks: 'run.yaml:2:1' });
  expect(Object.keys(provenance)).toEqual(listConfigKeys().map(({ key }) => key));
});

test.each([
  ['eval-batch-size: 8', 'eval-batch-size', 'Did you mean batch_size'],
  ['temprature: 0', 'temprature', 'Did you mean temperature, under gen_kwargs?'],
  ['temperature: 0', 'temperature', 'It belongs under gen_kwargs.'],
  ['max_token: 10', 'max_token', 'under gen_kwargs?'],
  ['dtype: float32', 'dtype', 'It belongs under model_args.'],
  ['memory: 5GiB', 'memory', 'It belongs under limits.'],
  ['num-fewshot: 5', 'num-fewshot', 'Write num_fewshot: keys of a file have underscores.'],
  ['taks: [b]', 'taks', 'Did you mean tasks'],
])('the key in %s is refused with the nearest or its level', (line, key, advice) => {
  const error = refuse(`${BASE}${line}\n`);
  expect(error.code).toBe('CONFIG_UNKNOWN_KEY');
  expect(error.message).toBe(`run.yaml:3:1: unknown key "${key}"`);
  expect(error.remedy).toContain(advice);
});

test.each([
  ['plan: {dat: 2}', 'run.yaml:3:8: unknown key "plan.dat"', 'Did you mean data?'],
  ['limits: {mem: 5GiB}', 'run.yaml:3:10: unknown key "limits.mem"', 'memory'],
  ['gen_kwargs: {num_fewshot: 5}', 'run.yaml:3:14: unknown key "gen_kwargs.num_fewshot"', 'at the top'],
  ['gen_kwargs:\n  stop: ["a"]', 'run.yaml:4:3: unknown key "gen_kwargs.stop"', 'until'],
  ['gen_kwargs: {dtype: x}', 'run.yaml:3:14: unknown key "gen_kwargs.dtype"', 'It belongs under model_args.'],
])('inside a mapping, %s is refused', (text, message, advice) => {
  const error = refuse(`${BASE}${text}\n`);
  expect(error.message).toBe(message);
  expect(error.remedy).toContain(advice);
});

const booleanKeys = listConfigKeys().filter(({ form }) => form === 'true or false').map(({ key }) => key);

test.each(booleanKeys)('%s takes yes, no, on and off, and never a quoted word', (key) => {
  const read = (word: string) => (compose(`${BASE}apply_chat_template: true\npredict_only: false\n`.replace(`${key}: false\n`, '') + `${key}: ${word}\n`).config as Record<string, unknown>)[key];
  expect(['true', 'yes', 'on', 'false', 'no', 'off'].map(read)).toEqual([true, true, true, false, false, false]);
  for (const word of ['"false"', '"true"', '0', '"no"', '[]']) expect(refuse(`${BASE}${key}: ${word}\n`).code, word).toBe('CONFIG_VALUE');
});

test.each([
  ['num_fewshot: "5"', 'run.yaml:3:14: num_fewshot: expected a whole number of 0 or more, found the text "5"'],
  ['tasks: [a, 5]', 'run.yaml:2:12: tasks.1: expected a text, found 5'],
  ['plan: {data: two}', 'run.yaml:3:14: plan.data: expected a whole number above 0, found the text "two"'],
  ['limits:\n  memory: lots', 'run.yaml:4:11: limits.memory: expected a size such as 5GiB or 80GB, found the text "lots"'],
  ['determinism: exact', 'run.yaml:3:14: determinism: expected fast, strict or isolated, found the text "exact"'],
  ['limit: 1.0', 'run.yaml:3:8: limit: 1.0 can mean one document or all of them: write 1 for one, or no limit for all'],
  ['limit: 0', 'run.yaml:3:8: limit: expected a number above 0, found 0'],
  ['seed: [1, 2]', 'run.yaml:3:7: seed: expected one number, or four: python,numpy,torch,fewshot; found 2'],
  ['limits: {kind: cgroup}', 'run.yaml:3:9: limits: kind says how memory is enforced, and no memory is given'],
  ['scoring: fast', 'run.yaml:3:10: scoring: fast is not in this version: use exact'],
  ['samples: {a: [0]}\nlimit: 3', 'run.yaml:3:10: samples: samples and limit exclude each other'],
  ['fewshot_as_multiturn: true', 'run.yaml:3:23: fewshot_as_multiturn: needs apply_chat_template'],
  ['output_path: out.json', 'run.yaml:3:14: output_path: expected a folder: a run writes more than one file'],
])('%s is refused with its place', (text, message) => {
  const base = text.startsWith('tasks') ? 'model_args: {pretrained: /m}\n' : BASE;
  expect(refuse(`${base}${text}\n`).message).toBe(message);
});

test('lm_eval\'s other spellings in a file are understood', () => {
  const { config } = compose('model_args: "pretrained=/m,dtype=float32,max_model_len=512"\ntasks: a,b\ninclude_path: tasks\nseed: 42\nnum_fewshot: null\nuse_cache: null\nwandb_args: {}\n');
  expect(config).toMatchObject({ model_args: { pretrained: '/m', dtype: 'float32', max_model_len: 512 }, tasks: ['a', 'b'], include_path: ['/here/tasks'] });
  expect(config.seed).toEqual({ python: 42, numpy: 42, torch: 42, fewshot: 42 });
  expect(config.num_fewshot).toBeUndefined();
});

test('what lm_eval knows and Assay refuses is refused in a file too, if it asks for something', () => {
  expect(refuse(`${BASE}use_cache: some.db\n`)).toMatchObject({ code: 'FLAG_REFUSED' });
});

test('a flag replaces the file\'s mapping, as in lm_eval, and a note names what is lost', () => {
  const { config, notes } = compose('model_args: {pretrained: /m, dtype: float32}\ntasks: [a]\n', { model_args: { pretrained: '/n' } });
  expect(config.model_args).toEqual({ pretrained: '/n' });
  expect(notes.join()).toContain('dtype of the file no longer counts');
});

test('tasks given as paths become absolute, names stay, doubles are merged with a note', () => {
  const { config, notes } = compose(BASE, { tasks: ['x.yaml', './folder', 'gsm8k', 'gsm8k', 'mmlu_*'] });
  expect(config.tasks).toEqual(['/here/x.yaml', '/here/folder', 'gsm8k', 'mmlu_*']);
  expect(notes.join()).toContain('run once: gsm8k');
});

test.each([
  [1, 'isolated'], [8, 'sets nothing'], ['auto:4', 'sets nothing'],
] as const)('batch_size %s is explained', (size, words) => {
  expect(compose(BASE, { batch_size: size }).notes.join()).toContain(words);
});

test('without tasks, without a model and with a foreign engine nothing starts', () => {
  expect(refuse('model_args: {pretrained: /m}\n').code).toBe('TASK_NONE');
  expect(refuse('tasks: [a]\n').message).toContain('pretrained is missing');
  expect(refuse('tasks: [a]\nmodel_args: {pretrained: /m, max_length: 512, max_model_len: 512}\n').message).toContain('max_length and max_model_len exclude each other');
  expect(refuse(`${BASE}model: hf\n`)).toMatchObject({ code: 'MODEL_TYPE' });
});

test.each([
  ['hf', 'Supported: vllm, a model on this machine\'s GPUs or CPU. Type --model vllm; pretrained, revision, tokenizer and dtype in --model_args mean the same there.'],
  ['local-completions', 'For local-completions use lm_eval itself.'],
  ['vlm', 'Did you mean vllm?'],
  ['nothing', 'Supported: vllm'],
])('model %s is refused with what to type instead', (model, words) => {
  expect(refuse(`${BASE}model: ${model}\n`).remedy).toContain(words);
});
