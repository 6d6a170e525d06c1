import { Command } from 'commander';
import { expect, test } from 'vitest';
import { FLAGS } from './flag-table.ts';
import { addConfigFlags, buildUnknownFlag, readFlags, spellFlags } from './read-flags.ts';

function read(...argv: string[]) {
  const command = new Command('run').exitOverride().configureOutput({ writeErr: () => undefined });
  addConfigFlags(command, () => '');
  command.parse(spellFlags(argv), { from: 'user' });
  return readFlags(command.opts());
}

test('flags are spelt with dashes or underscores, values stay as they are', () => {
  expect(spellFlags(['--num-fewshot=a-b', '--output-path', 'a-b', '--', '--a-b'])).toEqual(['--num_fewshot=a-b', '--output_path', 'a-b', '--', '--a-b']);
});

test('a command line of lm_eval\'s means what it means there', () => {
  const { values, configFile } = read('-M', 'vllm', '-a', 'pretrained=/m,dtype=float32', 'max_model_len=4096', '-t', 'a,b', 'c', '-L', '20', '-f', '5', '-b', 'auto', '-s', '-o', 'out');
  expect(values).toEqual({
    model: 'vllm', model_args: { pretrained: '/m', dtype: 'float32', max_model_len: 4096 }, tasks: ['a', 'b', 'c'], limit: 20, num_fewshot: 5, batch_size: 'auto',
    log_samples: true, output_path: 'out',
  });
  expect(configFile).toBeUndefined();
});

test('a flag that is not given is no choice', () => {
  expect(read('--tasks', 'a').values).toEqual({ tasks: ['a'] });
  expect(read('--num_fewshot', '0').values).toEqual({ num_fewshot: 0 });
});

test('a flag given twice: lists and mappings add up, for others the last counts and a note says so', () => {
  const { values, notes } = read('--tasks', 'a', '--tasks', 'b', '--model_args', 'x=1', '--model_args', 'y=2', '--limit', '1', '--limit', '2');
  expect(values).toEqual({ tasks: ['a', 'b'], model_args: { x: 1, y: 2 }, limit: 2 });
  expect(notes).toEqual(['--limit is given 2 times; the last one counts: 2']);
});

test('a flag that took the next flag for its value is found out', () => {
  expect(() => read('--tasks', '--limit', '3')).toThrow('--tasks: no value was given (next came --limit)');
});

test.each(['use_cache=x', 'cache_requests', 'wandb_args=project=x', 'hf_hub_log_args=a=b', 'check_integrity'])('--%s is refused with a reason', (flag) => {
  expect(() => read(`--${flag}`)).toThrow(/is not supported: .+/);
});

test('accepted flags without a key leave a note', () => {
  expect(read('--write_out').notes[0]).toContain('requests/docs.ndjson');
  expect(read('-v', 'debug')).toMatchObject({ verbosity: 'DEBUG', values: {} });
});

test.each([
  ['--tsks', 'Did you mean --tasks?'],
  ['--lmits', 'Did you mean --limits or --limit?'],
  ['--no_probe', 'Write --probe false.'],
  ['--zzzzz', 'See `assay run --help` for the flags there are.'],
])('the unknown flag %s gets: %s', (flag, nearest) => {
  expect(buildUnknownFlag(flag, ['json']).remedy).toBe(nearest);
});

const switches = FLAGS.filter(({ rule, status, key }) => rule === 'boolean' && status !== 'refused' && key !== undefined).map(({ flag }) => flag);

test.each(switches)('--%s is on when given, off when told so, and no choice when absent', (flag) => {
  const valueOf = (...argv: string[]) => (read(...argv).values as Record<string, unknown>)[flag];
  expect([valueOf(`--${flag}`), valueOf(`--${flag}`, 'true'), valueOf(`--${flag}=false`), valueOf(`--${flag}`, 'no'), valueOf()]).toEqual([true, true, false, false, undefined]);
  expect(() => read(`--${flag}=flase`)).toThrow('expected true or false');
});
