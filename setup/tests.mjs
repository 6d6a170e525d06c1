// Runs every test, TypeScript's and Python's, lists what was skipped and why, and closes with one line of counts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runForeground } from './foreground.mjs';
import { cloneDir, node24, nodeModulesDir, readJson, resolveHome } from './home.mjs';
import { readJUnit } from './junit.mjs';

const NO_TESTS_RAN = 5;
/** Two processes, file by file in order: the files with the engine come first and fill one of them, the harness' the other. */
const IN_TWO_PROCESSES = ['-n', '2', '--dist', 'loadfile', '--no-loadscope-reorder'];

/** Arguments are file filters for vitest; with any, Python's tests stay out. */
export async function runTests({ python }, args) {
  const dir = mkdtempSync(path.join(tmpdir(), 'assay-tests-'));
  try {
    const outcomes = [await runVitest(path.join(dir, 'vitest.json'), args)];
    if (args.length === 0) outcomes.push(await runPytest(path.join(dir, 'pytest.xml'), python));
    return report(outcomes);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function runVitest(file, args) {
  const command = [path.join(nodeModulesDir, 'vitest', 'vitest.mjs'), 'run', '--reporter=default', '--reporter=./test/support/outcome-reporter.ts'];
  const exitCode = await runForeground(node24, [...command, ...args], { cwd: cloneDir, env: testEnvironment({ ASSAY_TEST_OUTCOMES: file }) });
  return countCrash(readJson(file), exitCode, 'vitest');
}

async function runPytest(file, python) {
  const cwd = path.join(cloneDir, 'apps', 'worker');
  const exitCode = await runForeground(python, ['-m', 'pytest', ...IN_TWO_PROCESSES, `--junitxml=${file}`], { cwd, env: testEnvironment({}) });
  if (exitCode === NO_TESTS_RAN) return { passed: 0, failed: 1, skipped: [] };
  return countCrash(readReport(file), exitCode, 'pytest');
}

/** A runner that failed without a failed test, or that left no report, is one failure more. */
function countCrash(outcome, exitCode, runner) {
  const counted = outcome ?? { passed: 0, failed: 0, skipped: [] };
  if (exitCode === 0 && outcome) return counted;
  if (counted.failed > 0) return counted;
  process.stdout.write(`${runner} ended with exit code ${exitCode} and ${outcome ? 'no failed test' : 'no report'}\n`);
  return { ...counted, failed: 1 };
}

function report(outcomes) {
  const skipped = outcomes.flatMap((outcome) => outcome.skipped);
  const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0);
  const failed = outcomes.reduce((total, outcome) => total + outcome.failed, 0);
  process.stdout.write('\n');
  for (const { name, reason } of skipped) process.stdout.write(`skipped: ${name}: ${reason}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

function readReport(file) {
  try {
    return readJUnit(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The clone's programs come first for whatever a test starts, and both languages look into the same home. */
function testEnvironment(extra) {
  const PATH = `${path.join(nodeModulesDir, '.bin')}${path.delimiter}${process.env.PATH ?? ''}`;
  return { ...process.env, PATH, ASSAY_HOME: resolveHome(), ...extra };
}
