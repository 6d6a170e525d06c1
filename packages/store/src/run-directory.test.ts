import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { findLatestRun, findRun } from './find-run.ts';
import { openRunDirectory, readRunDirectory, writeConfig } from './run-directory.ts';
import { readRunJson, writeRunJson } from './run-json.ts';
import { readIdentity, settleIdentity } from './run-identity.ts';
import { cleanModelName, type RunRequest } from './run-location.ts';

const NOW = new Date('2026-03-04T05:06:07.890Z');
const SETTINGS = { model: 'vllm', model_args: { pretrained: 'org/m', dtype: 'bfloat16' }, tasks: ['a'], seed: 1 };

const ask = (cwd: string, changes: Partial<RunRequest> = {}): RunRequest => ({ outputPath: undefined, cwd, model: 'org/m', settings: SETTINGS, now: NOW, ...changes });

async function open(request: RunRequest) {
  const run = await openRunDirectory(request);
  onTestFinished(() => run.close());
  return run;
}

/** Opens and closes again, as a run that has ended. */
async function make(request: RunRequest): Promise<string> {
  const run = await openRunDirectory(request);
  run.close();
  return run.dir;
}

describe('openRunDirectory', () => {
  it('makes runs/<time>-<model> without a path, with its folders and header', async () => {
    const cwd = makeTempDir();
    const run = await open(ask(cwd));
    expect(run.dir).toBe(join(cwd, 'runs', '2026-03-04T05-06-07-m'));
    expect(run.isResumed).toBe(false);
    expect((await readdir(run.dir)).sort()).toEqual(['logs', 'requests', 'results', 'run.json', 'run.lock', 'run.lock.pid', 'scores']);
    expect(run.header).toMatchObject({ schema: 2, model: 'org/m', settings: SETTINGS, createdAt: NOW.toISOString() });
  });

  it('goes on without a path with the newest unfinished run of these settings that nobody is at work on', async () => {
    const cwd = makeTempDir();
    const at = (hour: string) => new Date(`2026-03-04T${hour}:00:00Z`);
    const older = await make(ask(cwd, { now: at('01') }));
    const newer = await make(ask(cwd, { now: at('02'), startsNew: true }));
    const sealed = await make(ask(cwd, { now: at('03'), startsNew: true }));
    await writeFile(join(sealed, 'manifest.json'), '{}');
    await make(ask(cwd, { now: at('04'), settings: { ...SETTINGS, seed: 2 } }));

    expect(await open(ask(cwd, { now: at('05') }))).toMatchObject({ dir: newer, isResumed: true, isFound: true });
    expect(await open(ask(cwd, { now: at('05') }))).toMatchObject({ dir: older, isFound: true });
    expect(await open(ask(cwd, { now: at('05') }))).toMatchObject({ isResumed: false, isFound: false });
  });

  it('gives twelve starts in one second twelve folders', async () => {
    const cwd = makeTempDir();
    const runs = await Promise.all(Array.from({ length: 12 }, () => open(ask(cwd))));
    expect(new Set(runs.map(({ dir }) => dir)).size).toBe(12);
    expect(new Set(runs.map(({ header }) => header.id)).size).toBe(12);
  });

  it('gives one of twelve starts with one path the folder and refuses the others', async () => {
    const cwd = makeTempDir();
    const starts = await Promise.allSettled(Array.from({ length: 12 }, () => open(ask(cwd, { outputPath: 'out' }))));
    const refused = starts.filter((start) => start.status === 'rejected');
    expect(refused).toHaveLength(11);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'RUN_BUSY', details: { pid: process.pid } });
  });

  it('takes DIR where it is new or empty, and resumes this very run there', async () => {
    const cwd = makeTempDir();
    await mkdir(join(cwd, 'out'));
    const dir = await make(ask(cwd, { outputPath: 'out' }));
    expect(dir).toBe(join(cwd, 'out'));
    const again = await open(ask(cwd, { outputPath: 'out', now: new Date() }));
    expect(again).toMatchObject({ dir, isResumed: true, header: { createdAt: NOW.toISOString() } });
  });

  it('takes up a start that ended before it wrote its header', async () => {
    const cwd = makeTempDir();
    const dir = await make(ask(cwd, { outputPath: 'out' }));
    for (const name of await readdir(dir)) if (!name.startsWith('run.lock')) await rm(join(dir, name), { recursive: true });
    expect(await make(ask(cwd, { outputPath: 'out' }))).toBe(dir);
  });

  it('puts another evaluation into DIR/<model>-<digest>, and resumes it there', async () => {
    const cwd = makeTempDir();
    const first = await make(ask(cwd, { outputPath: 'out' }));
    const other = ask(cwd, { outputPath: 'out', model: 'org/n', settings: { ...SETTINGS, model_args: { pretrained: 'org/n' } } });
    const dir = await make(other);
    expect(dir).toMatch(new RegExp(`^${first}/n-[0-9a-f]{8}$`));
    expect(await open(other)).toMatchObject({ dir, isResumed: true });
  });

  it('leaves a folder with other files alone', async () => {
    const cwd = makeTempDir();
    await mkdir(join(cwd, 'out'));
    await writeFile(join(cwd, 'out', 'notes.txt'), 'mine');
    expect(basename(await make(ask(cwd, { outputPath: 'out' })))).toMatch(/^m-[0-9a-f]{8}$/);
    expect(await readFile(join(cwd, 'out', 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('refuses this evaluation under other settings, naming the fields', async () => {
    const cwd = makeTempDir();
    await make(ask(cwd, { outputPath: 'out' }));
    const settings = { ...SETTINGS, seed: 2, model_args: { pretrained: 'org/m', dtype: 'float16' } };
    await expect(openRunDirectory(ask(cwd, { outputPath: 'out', settings }))).rejects.toMatchObject({
      code: 'RUN_DIFFERS', details: { differences: 'model_args.dtype: bfloat16 → float16; seed: 1 → 2' },
    });
  });

  it('refuses by name what another schema version wrote', async () => {
    const cwd = makeTempDir();
    const dir = await make(ask(cwd, { outputPath: 'out' }));
    await writeFile(join(dir, 'run.json'), JSON.stringify({ schema: 99, name: 'from the future' }));
    await expect(openRunDirectory(ask(cwd, { outputPath: 'out' }))).rejects.toMatchObject({ code: 'RUN_VERSION', details: { found: '99', known: 2 } });
    await expect(readRunDirectory(dir)).rejects.toMatchObject({ code: 'RUN_VERSION' });
    await writeFile(join(dir, 'run.json'), JSON.stringify({ schema: 1, id: 'earlier' }));
    await expect(readRunDirectory(dir)).rejects.toThrow('schema 1, this version reads 2: it was written by an older version of Assay');
  });

  it('says what is wrong with a path that cannot be written', async () => {
    const cwd = makeTempDir();
    await writeFile(join(cwd, 'file'), '');
    for (const outputPath of ['file', 'file/below', `long/${'x'.repeat(300)}`]) {
      await expect(openRunDirectory(ask(cwd, { outputPath }))).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
    }
  });

  it.each([['HuggingFaceTB/SmolLM2-135M', 'SmolLM2-135M'], ['/models/a b:c/', 'a_b_c'], ['../..', 'model'], ['', 'model']])('calls the folder of %s %s', (model, name) => {
    expect(cleanModelName(model)).toBe(name);
  });
});

describe('a run that never was', () => {
  it('takes its folder away with the parents that were made for it', async () => {
    const cwd = makeTempDir();
    const discard = async (request: RunRequest) => {
      const run = await open(request);
      await run.discard();
    };
    await discard(ask(cwd));
    await discard(ask(cwd, { outputPath: 'a/b/c' }));
    expect(await readdir(cwd)).toEqual([]);
    await make(ask(cwd));
    await discard(ask(cwd, { startsNew: true }));
    expect(await readdir(join(cwd, 'runs'))).toHaveLength(1);
  });

  it('is gone before another start can begin in its folder', async () => {
    const cwd = makeTempDir();
    const request = ask(cwd, { outputPath: 'shared' });
    const discarded = (await open(request)).discard();
    await expect(open(request)).rejects.toMatchObject({ code: 'RUN_BUSY' });
    await discarded;
    const next = await open(request);
    expect(existsSync(next.paths.header)).toBe(true);
  });

  it('leaves a folder that was there, what others put into it, and a run that it resumed', async () => {
    const cwd = makeTempDir();
    await mkdir(join(cwd, 'mine'));
    const run = await open(ask(cwd, { outputPath: 'mine' }));
    for (const name of ['notes.txt', 'run.lock.mine']) await writeFile(join(run.dir, name), '');
    await run.discard();
    expect(await readdir(join(cwd, 'mine'))).toEqual(['notes.txt', 'run.lock.mine']);

    const dir = await make(ask(cwd));
    const before = await readdir(dir);
    const resumed = await open(ask(cwd));
    expect(resumed).toMatchObject({ dir, isResumed: true });
    await resumed.discard();
    expect(await readdir(dir)).toEqual(before);
  });
});

describe('a run that is read', () => {
  it('is found by path, by folder name and by id', async () => {
    const cwd = makeTempDir();
    const { dir, header } = await open(ask(cwd));
    for (const name of [dir, join('runs', basename(dir)), basename(dir), header.id]) expect((await findRun(name, cwd)).dir).toBe(dir);
    await expect(findRun('nothing', cwd)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it('is found by folder name and by id also where an output path holds several', async () => {
    const cwd = makeTempDir();
    await open(ask(cwd, { outputPath: 'runs/mine' }));
    const { dir, header } = await open(ask(cwd, { outputPath: 'runs/mine', settings: { ...SETTINGS, tasks: ['b'] } }));
    expect(dirname(dir)).toBe(join(cwd, 'runs', 'mine'));
    for (const name of [basename(dir), header.id]) expect((await findRun(name, cwd)).dir).toBe(dir);
  });

  it('is the latest where something happened to it last, whatever it is called and whenever it was made', async () => {
    const cwd = makeTempDir();
    await expect(findLatestRun(cwd)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', details: { dir: join(cwd, 'runs') } });
    const resumed = await open(ask(cwd));
    const newer = await open(ask(cwd, { outputPath: 'runs/a/nested', settings: { ...SETTINGS, seed: 2 } }));
    const elsewhere = await open(ask(cwd, { outputPath: 'other', settings: { ...SETTINGS, seed: 3 } }));
    const happensAt = async (run: { paths: { events: string } }, second: number) => {
      await writeFile(run.paths.events, '');
      await utimes(run.paths.events, second, second);
    };
    await happensAt(resumed, 1_000);
    await happensAt(newer, 2_000);
    await happensAt(elsewhere, 9_000);
    expect((await findLatestRun(cwd)).dir).toBe(newer.dir);
    await happensAt(resumed, 3_000);
    expect((await findLatestRun(cwd)).dir).toBe(resumed.dir);
  });

  it('keeps its configuration without secrets', async () => {
    const run = await open(ask(makeTempDir()));
    await writeConfig(run, { model_args: { token: 'hf_abcdefghijklmnopqrstuvwx', dtype: 'float32' }, limit: undefined });
    expect(await readFile(run.paths.config, 'utf8')).toBe('model_args:\n  token: "[redacted]"\n  dtype: float32\n');
  });

  it('writes no secret into its JSON files, and leaves what must stay to the letter', async () => {
    const run = await open(ask(makeTempDir()));
    const template = "{% set token = 'user' %}";
    await writeRunJson(run.paths.engine, { asked: { hf_token: 'plain-value', dtype: 'float32' }, template }, { verbatim: ['template'] });
    expect(await readRunJson(run.paths.engine)).toEqual({ asked: { hf_token: '[redacted]', dtype: 'float32' }, template });
  });

  it('compares a task whose name looks like a secret\'s as any other', async () => {
    const run = await open(ask(makeTempDir()));
    await settleIdentity(run, 'semantic', { tasks: { secrets: 'd' } });
    await settleIdentity(run, 'semantic', { tasks: { secrets: 'd' } });
    await expect(settleIdentity(run, 'semantic', { tasks: { secrets: 'e' } })).rejects.toMatchObject({ details: { differences: 'tasks.secrets: d → e' } });
  });

  it('settles each part of its identity once', async () => {
    const run = await open(ask(makeTempDir()));
    expect(await readIdentity(run)).toEqual({});
    await settleIdentity(run, 'semantic', { weights: 'w', tasks: { a: 'd' } });
    await settleIdentity(run, 'numeric', { dtype: 'float32', seed: undefined });
    await settleIdentity(run, 'semantic', { tasks: { a: 'd' }, weights: 'w' });
    await settleIdentity(run, 'numeric', { dtype: 'float32' });
    await expect(settleIdentity(run, 'semantic', { weights: 'w', tasks: { a: 'e' } })).rejects.toMatchObject({
      code: 'RUN_DIFFERS', details: { differences: 'tasks.a: d → e' },
    });
  });

  it('names a JSON file that is broken', async () => {
    const run = await open(ask(makeTempDir()));
    expect(await readRunJson(run.paths.plan)).toBeUndefined();
    await writeFile(run.paths.plan, '{');
    await expect(readRunJson(run.paths.plan)).rejects.toMatchObject({ code: 'RESULTS_DAMAGED', details: { file: run.paths.plan } });
  });
});
