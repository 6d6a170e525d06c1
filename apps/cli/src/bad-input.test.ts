// Bad input through the real command: exit code 2, two lines on stderr, nothing on stdout, nothing started.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');
const GIVEN = ['--tasks', 'gsm8k', '--model_args', 'pretrained=./model'];

let cwd: string;
let more: Record<string, string>;
beforeEach(async () => {
  more = {};
  cwd = await mkdtemp(join(tmpdir(), 'assay-cli-'));
  await mkdir(join(cwd, 'model'));
  await writeFile(join(cwd, 'model', 'config.json'), '{"model_type": "llama"}');
  await writeFile(join(cwd, 'model', 'tokenizer.json'), '{}');
  const header = '{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}';
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await writeFile(join(cwd, 'model', 'model.safetensors'), Buffer.concat([length, Buffer.from(header), Buffer.alloc(16)]));
});
afterEach(() => rm(cwd, { recursive: true }));

function assay(...argv: string[]) {
  const env = { PATH: process.env['PATH'], HOME: cwd, ASSAY_HOME: join(cwd, 'home'), HF_HUB_OFFLINE: '1', ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...argv], { cwd, env, encoding: 'utf8' });
  return { status, stdout, lines: stderr.trimEnd().split('\n') };
}

/** What is left of a refusal once it is known to have been one. */
function refusal(...argv: string[]) {
  const { status, stdout, lines } = assay(...argv);
  return { status, stdout, what: lines.at(-2), remedy: lines.at(-1), hasStarted: existsSync(join(cwd, 'runs')) };
}

const refused = (what: string | RegExp, remedy: string | RegExp = '') => (
  { status: 2, stdout: '', what: expect.stringMatching(toPattern(what)), remedy: expect.stringMatching(toPattern(remedy)), hasStarted: false }
);

const toPattern = (text: string | RegExp): RegExp => (typeof text === 'string' ? new RegExp(text.replaceAll(/[^\w\s]/g, '\\$&')) : text);

test.each([
  ['eval-batch-size: 8', 'run.yaml:2:1: unknown key "eval-batch-size"', /Did you mean batch_size/],
  ['temprature: 0', 'run.yaml:2:1: unknown key "temprature"', 'Did you mean temperature, under gen_kwargs?'],
  ['max_token: 10', 'run.yaml:2:1: unknown key "max_token"', /max_tokens.*, under gen_kwargs/],
  ['tasks: [gsm8k]\ndtype: float32', 'run.yaml:3:1: unknown key "dtype"', 'It belongs under model_args.'],
])('%j in a file is refused with its place and the nearest key', async (text, what, remedy) => {
  await writeFile(join(cwd, 'run.yaml'), `model_args: {pretrained: ./model}\n${text}\n`);
  expect(refusal('run', '--config', 'run.yaml')).toEqual(refused(what, remedy));
});

test('an unknown flag is refused with the nearest', () => expect(refusal(...GIVEN, '--num_fewshots', '5')).toEqual(refused('unknown flag --num_fewshots', /--num_fewshot\b/)));

test('a key given twice is refused with both lines, in YAML, JSON files and JSON flags', async () => {
  await writeFile(join(cwd, 'a.yaml'), 'limit: 1\ntasks: [x]\nlimit: 2\n');
  await writeFile(join(cwd, 'a.json'), '{"limit": 1,\n "limit": 2}');
  expect(refusal('run', '--config', 'a.yaml')).toEqual(refused('a.yaml:3:1: "limit" is given twice: on line 1 and on line 3'));
  expect(refusal('run', '--config', 'a.json')).toEqual(refused('a.json:2:2: "limit" is given twice: on line 1 and on line 2'));
  expect(refusal(...GIVEN, '--samples', '{"a": [1], "a": [2]}')).toEqual(refused('"a" is there twice'));
});

test('without a task nothing runs, and the exit code says so', () => expect(refusal('run', '--model_args', 'pretrained=./model')).toEqual(refused('no task was given', '--tasks')));

test('a task file and a folder of tasks that are not there are named, with what lies beside them', async () => {
  await writeFile(join(cwd, 'task.yaml'), 'task: x\n');
  await mkdir(join(cwd, 'tasks'));
  expect(refusal('--tasks', './taks.yaml', '--model_args', 'pretrained=./model')).toEqual(refused(/unknown task ".*taks\.yaml"/, /No such file or folder; beside it there is .*task\.yaml/));
  expect(refusal(...GIVEN, '--include_path', 'taks')).toEqual(refused(/include_path: no such folder: .*taks; beside it there is .*tasks/));
});

test.each([['list', 'tasks'], ['list_groups', 'groups']])('--tasks %s, which lists in lm_eval, is refused with the command that lists', async (word, kind) => {
  await mkdir(join(cwd, 'home'));
  await mkdir(join(cwd, 'bin'));
  await writeFile(join(cwd, 'home', 'environment.json'), JSON.stringify({ schema: 1, python: join(cwd, 'bin', 'python') }));
  const list = () => refusal('--tasks', word);
  expect(list()).toEqual(refused(`unknown task "${word}"`, `type: ${join(cwd, 'bin', 'python')} -m lm_eval ls ${kind}`));
  await writeFile(join(cwd, 'bin', 'lm_eval'), '');
  expect(list()).toEqual(refused(`unknown task "${word}"`, `type: ${join(cwd, 'bin', 'lm_eval')} ls ${kind}`));
});

test('a flag that swallows the next one is found out', () => expect(refusal('run', '--tasks', '--model_args', 'pretrained=./model')).toEqual(refused('--tasks: no value was given')));

test.each(['--log_samples=of', '--probe=maybe', '--predict_only="false"'])('%s is refused, never taken for true', (flag) => (
  expect(refusal(...GIVEN, flag)).toEqual(refused('expected true or false'))
));

test.each([
  [['--limit', '1.0'], 'write 1 for one'], [['--limit', '0'], 'above 0'], [['--limit', '-3'], 'above 0'], [['--limit', '2.5'], 'whole number'],
  [['--limit', 'ten'], 'expected a number'],
])('%j is refused', (flags, what) => expect(refusal(...GIVEN, ...flags)).toEqual(refused(what)));

test('an engine that is not there is refused by name', () => expect(refusal(...GIVEN, '--model', 'hf')).toEqual(refused('there is no engine for --model hf', /vllm/)));

test('a refused flag says why and what instead', () => expect(refusal(...GIVEN, '--use_cache', 'x.db')).toEqual(refused(/--use_cache is not supported: .+/, 'Leave it out')));

test('a model that is not there is refused with the folder beside it', () => (
  expect(refusal('--tasks', 'gsm8k', '--model_args', 'pretrained=./modle')).toEqual(refused(/no model at \.\/modle: .*beside it there is .*model/))
));

test('a cut download is refused with both sizes', async () => {
  await cp(join(cwd, 'model'), join(cwd, 'cut'), { recursive: true });
  await truncate(join(cwd, 'cut', 'model.safetensors'), 70);
  expect(refusal('--tasks', 'gsm8k', '--model_args', 'pretrained=./cut')).toEqual(refused(/model\.safetensors is not usable: 70 bytes where its header describes 79/, 'Fetch the file again'));
});

test('with --json the error is one object on stdout too', () => {
  const { status, stdout } = assay('run', '--json', ...GIVEN, '--limit', '0');
  expect(status).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'CONFIG_VALUE', kind: 'usage', details: { key: '--limit' } } });
});

test('a machine without a set-up is refused with exit code 3', () => {
  const { status, lines } = assay(...GIVEN);
  expect(lines.slice(-2).join('\n')).toMatch(/no usable Python environment.*\nRun `npm run setup`/);
  expect(status).toBe(3);
});

test('an ASSAY_PYTHON that is no interpreter is refused before anything starts, a relative path from where one stands', async () => {
  await writeFile(join(cwd, 'python'), '#!/bin/sh\nexit 7\n', { mode: 0o755 });
  more = { ASSAY_PYTHON: './python' };
  expect(refusal(...GIVEN)).toEqual({ ...refused(/no usable Python environment: \/.*\/python: it ends with exit code 7/, 'ASSAY_PYTHON'), status: 3 });
});

test.each([['dtype=bf16', 'dtype: "bf16" is not one of auto'], ['swap_space=1e999', 'model_args: swap_space is Infinity, not a finite number']])('model_args %s is refused', (argument, what) => (
  expect(refusal('--tasks', 'gsm8k', '--model_args', `pretrained=./model,${argument}`)).toEqual(refused(what))
));

test.each([
  [['plan', '--devices', '8xH100-80G'], /--devices: unknown kind of device "H100-80G"; did you mean H100-80GB/],
  [['plan', '--devices', 'gpus'], /--devices: "gpus": expected such as 8xH100-80GB, cpu:16/],
  [['plan', '--devices', 'node.json'], 'node.json: no such file'],
  [['run', '--devices', '2xL4'], 'unknown flag --devices'],
  [['probe', '--devices', '2xL4'], 'unknown flag --devices'],
])('%j is refused before anything is rendered', ([command = '', ...flags], what) => {
  expect(refusal(command, ...GIVEN, ...flags)).toEqual(refused(what));
});

test('what is wrong in a file of node facts is named by key, line and column', async () => {
  const sizes = '{\n  "cpus": 4,\n\t"memoryBytes": "64GiB",\n  "gpus": [\n    {"id": "GPU-1", "name": "NVIDIA L4", "memoryBytes": "22 gigs"}\n  ]\n}\n';
  for (const [text, what] of [
    [sizes, 'node.json:5:57: gpus.0.memoryBytes: expected a size above 0 such as 80GB or 64GiB, or a number of bytes, found "22 gigs"'],
    ['{"cpus": 4,\n "memory": 1}', 'node.json:2:2: unknown key "memory"'],
    ['{"cpus": 4,\n "memoryBytes": 1', /^assay: node\.json:2:\d+: /],
  ] as const) {
    await writeFile(join(cwd, 'node.json'), text);
    expect(refusal('plan', ...GIVEN, '--devices', 'node.json')).toEqual(refused(what));
  }
  expect(refusal('plan', ...GIVEN, '--devices', 'cpu:4:lots')).toEqual(refused('command line: --devices: "lots" for the memory of 4 cores: expected a size'));
});

test('a number that is none, and a device as a file, are refused', async () => {
  await writeFile(join(cwd, 'run.yaml'), 'model_args: {pretrained: ./model}\ntasks: [gsm8k]\ngen_kwargs: {temperature: .nan}\n');
  expect(refusal('run', '--config', 'run.yaml')).toEqual(refused('run.yaml:3:13: gen_kwargs: temperature is NaN'));
  expect(refusal('run', '--config', '/dev/zero')).toEqual(refused('/dev/zero: is a device'));
});

test('a text that would move the cursor is shown in its escaped form', () => {
  expect(refusal('run', '--tasks', 'x', '--model_args', 'pretrained=./a\u001B[31mb')).toEqual(refused(/no model at \.\/a\\u001b\[31mb/));
});

test.each([['status'], ['results'], ['logs']])('assay %s of a run that is not there exits 2', (command) => {
  expect(assay(command, 'nowhere')).toMatchObject({ status: 2, stdout: '', lines: [expect.stringContaining('no run at'), expect.anything()] });
});

test('the version needs no repository, and says nothing on stderr', () => {
  const { status, stdout, lines } = assay('--version');
  expect({ status, lines }).toEqual({ status: 0, lines: [''] });
  expect(stdout).toMatch(/^assay \d+\.\d+\.\d+/);
});
