import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { explainFailure } from './failure.mjs';
import { readJson, resolveHome, writeJsonAtomic } from './home.mjs';
import { readJUnit } from './junit.mjs';
import { checkDisk } from './platform.mjs';

const dir = mkdtempSync(path.join(tmpdir(), 'assay-setup-parts-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function explain(text) {
  const logFile = path.join(dir, 'setup.log');
  writeFileSync(logFile, `ECONNREFUSED of an earlier step\n${text}`);
  return explainFailure({ step: 'PyTorch', logFile, offset: 'ECONNREFUSED of an earlier step\n'.length, exit: 'exit 1' });
}

describe('the cause of a failed step', () => {
  test.each([
    ['ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device', 'no space left on the disk while installing PyTorch'],
    ['npm error code ENOSPC', 'no space left on the disk while installing PyTorch'],
    ['WARNING: Retrying after connection broken by NewConnectionError(...)', 'the package registry cannot be reached while installing PyTorch'],
    ['npm error code EAI_AGAIN', 'the package registry cannot be reached while installing PyTorch'],
    ['SIGSEGV', 'installing PyTorch failed (exit 1)'],
  ])('%s', (text, what) => {
    expect(explain(text).message).toBe(what);
  });

  test('what it does not know it shows, without the lines of earlier steps', () => {
    expect(explain('first\nlast\n').detail).toEqual(['first', 'last']);
  });
});

describe('pytest\'s report', () => {
  test('is counted with the reason of each skip', () => {
    const xml = `<testsuites><testsuite><testcase classname="tests.test_a" name="one" time="0.1" />
      <testcase classname="tests.test_a" name="two"><failure message="no">text</failure></testcase>
      <testcase classname="tests.test_a" name="three"><error message="setup">text</error></testcase>
      <testcase classname="tests.test_a" name="four[a&gt;b]"><skipped type="pytest.skip" message="needs &quot;root&quot;">x</skipped></testcase>
      </testsuite></testsuites>`;
    expect(readJUnit(xml)).toEqual({ passed: 1, failed: 2, skipped: [{ name: 'tests.test_a.four[a>b]', reason: 'needs "root"' }] });
  });
});

describe('ASSAY_HOME', () => {
  test('is the user\'s cache folder unless it is named', () => {
    expect(resolveHome({ XDG_CACHE_HOME: '/cache' })).toBe('/cache/assay');
    expect(resolveHome({ XDG_CACHE_HOME: '/cache', ASSAY_HOME: '/elsewhere' })).toBe('/elsewhere');
  });
});

describe('stamps', () => {
  test('are read back, and a torn or missing one means that the step is not done', () => {
    const file = path.join(dir, 'deep', 'stamp.json');
    expect(readJson(file)).toBeUndefined();
    writeJsonAtomic(file, { digest: 'a' });
    expect(readJson(file)).toEqual({ digest: 'a' });
    writeFileSync(file, '{"dig');
    expect(readJson(file)).toBeUndefined();
  });
});

test('a disk that would fill is refused in advance', () => {
  expect(() => checkDisk(dir, 1e9)).toThrow(/no space: .* GiB free, 1000000000 GiB needed/);
  expect(() => checkDisk(path.join(dir, 'not', 'there', 'yet'), 0.000001)).not.toThrow();
});
