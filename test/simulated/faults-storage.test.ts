// A run directory whose disk fills up, whose files are torn, that somebody else uses, or that holds another run.
import { spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, cpSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIB } from '@assay/domain';
import { buildRunPaths } from '@assay/store';
import { describe, type TestContext } from 'vitest';
import { type AssayWorld, demoModel } from '../support/assay-world.ts';
import { cloneDir, hasProgram, isRoot, requireOrSkip } from '../support/requirements.ts';
import { listEvents, readRecord, requireManifest, waitForEvent } from '../support/run-record.ts';
import { readScores } from '../support/score-files.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

/** Slow enough to be met in the middle of its work. */
const SLOW = { engine: { seconds_per_token: 0.001, max_num_batched_tokens: 256 } };

describe('on a disk of its own', () => {
  requireOrSkip('a file system of its own', canMount(), 'mounting a tmpfs needs root');

  testInWorld('a disk that fills up in mid-run ends the run, and the same command completes it when there is room again', async (world, { expect }) => {
    const disk = world.path('disk');
    mkdirSync(disk);
    mount(disk, 200);
    try {
      const dir = join(disk, 'run');
      const command = ['run', '--config', prepareSimulated(world, SLOW).config, '--output_path', dir];
      const run = world.start([...command, '--json']);
      await waitForEvent(run, dir, 'shard_done');
      const before = (await readRecord(dir)).ledger.finalCount;
      const filler = fill(disk);
      const ended = await run.ended;
      expect(ended.exitCode, ended.stderr).toBe(3);
      expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'DISK_FULL' } });
      expect(ended.stderr.trimEnd().split('\n').slice(-2)).toEqual([expect.stringMatching(/^assay: no space: /), expect.stringContaining('the same command resumes')]);

      rmSync(filler);
      const resumed = await world.run(command);
      expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
      const { ledger } = await readRecord(dir);
      expect(before).toBeGreaterThan(0);
      expect({ final: ledger.finalCount, duplicates: ledger.duplicates }).toEqual({ final: ledger.index.count, duplicates: 0 });
    } finally {
      spawnSync('umount', ['--lazy', disk]);
    }
  });
});

/** A run with some results on disk, which the same command goes on with. */
async function killInMidRun(world: AssayWorld): Promise<{ dir: string; command: string[] }> {
  const { dir, command } = prepareSimulated(world, SLOW);
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_done');
  run.kill('SIGKILL');
  await run.ended;
  return { dir, command };
}

testInWorld('a torn last line costs that line only', async (world, { expect }) => {
  const { dir, command } = await killInMidRun(world);
  const { resultsDir, events } = buildRunPaths(dir);
  const file = readdirSync(resultsDir).map((name) => join(resultsDir, name)).find((path) => statSync(path).size > 0) as string;
  const kept = (await readRecord(dir)).ledger.finalCount;
  truncateSync(file, statSync(file).size - 20);
  appendFileSync(events, '{"at":"2026-01-01T00:00:00');

  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  const { results, coverage } = await requireManifest(dir);
  expect(results).toMatchObject({ tornLines: 1, duplicates: 0 });
  expect(coverage).toMatchObject({ share: 1 });
  const again = readdirSync(resultsDir).filter((name) => name.startsWith('2-')).map((name) => readFileSync(join(resultsDir, name), 'utf8'));
  expect(again.join('').trimEnd().split('\n')).toHaveLength(coverage.requests - kept + 1);
});

testInWorld('of twelve starts at once with one path, one runs and eleven say that it is in use', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { settings: { limit: 8 } });
  const ends = await Promise.all(Array.from({ length: 12 }, () => world.run([...command, '--json'])));
  expect(ends.map(({ exitCode }) => exitCode).sort(), ends.map(({ stderr }) => stderr).join('\n')).toEqual([0, ...Array.from({ length: 11 }, () => 2)]);
  for (const { stdout, stderr } of ends.filter(({ exitCode }) => exitCode === 2)) {
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'RUN_BUSY', details: { pid: expect.any(Number) } } });
    expect(stderr).toMatch(/is in use by another process \(pid \d+\)/);
  }
  const { ledger } = await readRecord(dir);
  expect({ final: ledger.finalCount, duplicates: ledger.duplicates }).toEqual({ final: 8, duplicates: 0 });
});

testInWorld('a sealed run is read and not run again; under other settings it is refused, with the fields', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { settings: { limit: 8, seed: 7 } });
  const first = await world.run([...command, '--json']);
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  const before = describeFiles(dir);

  const again = await world.run([...command, '--json']);
  expect(again, again.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(again.stdout).rows).toEqual(JSON.parse(first.stdout).rows);
  expect(describeFiles(dir)).toEqual(before);

  await expectRefusal(world, [...command, '--seed', '8', '--num_fewshot', '1', '--json'], /seed\.\w+: 7 → 8; .*|num_fewshot: none → 1/, expect);
  await expectRefusal(world, [...command, '--limit', '9', '--json'], /limit: 8 → 9/, expect);
  expect(describeFiles(dir)).toEqual(before);

  // What is said of a manifest that was damaged: delete it, and the same command seals the run again.
  rmSync(join(dir, 'manifest.json'));
  const anew = await world.run([...command, '--json']);
  expect(anew, anew.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(anew.stdout).rows).toEqual(JSON.parse(first.stdout).rows);
});

testInWorld('a data set that has changed is not mixed with old results', async (world, { expect }) => {
  const tasks = world.path('tasks');
  cpSync(join(cloneDir, 'tasks'), tasks, { recursive: true });
  const { dir, command } = prepareSimulated(world, { ...SLOW, settings: { include_path: tasks } });
  const run = world.start(command);
  await waitForEvent(run, dir, 'shard_done');
  run.kill('SIGKILL');
  await run.ended;

  const data = join(tasks, 'data', 'short.jsonl');
  const original = readFileSync(data, 'utf8');
  writeFileSync(data, original.replace('What is the capital of Japan?', 'What is the main city of Japan?'));
  expect(readFileSync(data, 'utf8')).not.toBe(original);
  await expectRefusal(world, [...command, '--json'], /tasks\.assay_short\.(datasetDigest|promptsDigest)/, expect);

  writeFileSync(data, original);
  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  expect((await readRecord(dir)).ledger.duplicates).toBe(0);
  expect(Object.keys(readScores(dir).samples)).toEqual(['assay_short']);
});

testInWorld('a file of the run that was damaged is named before anything is started, with what to do; put back, the run goes on', async (world, { expect }) => {
  const { dir, command } = await killInMidRun(world);
  const paths = buildRunPaths(dir);
  const results = readdirSync(paths.resultsDir).map((name) => join(paths.resultsDir, name)).find((path) => statSync(path).size > 0) as string;
  const spoiled = [[results, 'runs its requests again'], [paths.plan, 'makes it again'], [paths.index, 'makes it again'], [paths.identity, 'another --output_path']] as const;
  for (const [file, remedy] of spoiled) {
    const whole = readFileSync(file);
    writeFileSync(file, Buffer.concat([Buffer.from('{]\n'), whole]));
    const { exitCode, stdout, stderr } = await world.run([...command, '--json']);
    expect(exitCode, stderr).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'RESULTS_DAMAGED', details: { file }, remedy: expect.stringContaining(remedy) } });
    writeFileSync(file, whole);
  }
  expect((await listEvents(dir)).filter(({ type }) => type === 'epoch_started')).toHaveLength(1);
  const resumed = await world.run(command);
  expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
  expect((await readRecord(dir)).ledger.duplicates).toBe(0);
});

async function expectRefusal(world: AssayWorld, command: string[], fields: RegExp, expect: TestContext['expect']): Promise<void> {
  const { exitCode, stdout, stderr } = await world.run(command);
  expect(exitCode, stderr).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'RUN_DIFFERS', details: { differences: expect.stringMatching(fields) } } });
}

function describeFiles(dir: string) {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.sort().map((file) => ({ file, bytes: statSync(file).size, changedAt: statSync(file).mtimeMs }));
}

function canMount(): boolean {
  if (!isRoot || !hasProgram('mount')) return false;
  const dir = join(tmpdir(), `assay-mount-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  const isMounted = mount(dir, 1);
  if (isMounted) spawnSync('umount', [dir]);
  rmSync(dir, { recursive: true });
  return isMounted;
}

function mount(dir: string, mebibytes: number): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'assay-test', dir]).status === 0;
}

/** Writes until nothing more fits, to the last byte. */
function fill(dir: string): string {
  const path = join(dir, 'filler');
  const file = openSync(path, 'w');
  try {
    for (let size = MIB; size >= 1; size = Math.floor(size / 2)) writeWhileFits(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
  return path;
}

function writeWhileFits(file: number, block: Buffer): void {
  try {
    for (;;) if (writeSync(file, block) < block.length) return;
  } catch {
    // Full: the next block is smaller.
  }
}
