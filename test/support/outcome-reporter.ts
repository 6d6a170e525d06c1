// A vitest reporter that writes the counts of a run, with the reason of each skip, to the file ASSAY_TEST_OUTCOMES names.
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface Outcome {
  passed: number;
  failed: number;
  skipped: { name: string; reason: string }[];
}

export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const file = process.env['ASSAY_TEST_OUTCOMES'];
    if (!file) return;
    const outcome: Outcome = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) countModule(module, outcome);
    writeFileSync(file, JSON.stringify(outcome));
  }
}

/** A file or suite that breaks outside its tests counts as one failure, or nothing would show it. */
function countModule(module: TestModule, outcome: Outcome): void {
  const before = outcome.failed;
  for (const test of module.children.allTests()) countTest(test, outcome);
  if (module.state() === 'failed' && outcome.failed === before) outcome.failed += 1;
}

function countTest(test: TestCase, outcome: Outcome): void {
  const result = test.result();
  if (result.state === 'passed') outcome.passed += 1;
  else if (result.state === 'failed') outcome.failed += 1;
  else {
    const reason = (result.state === 'skipped' && result.note) || 'no reason given';
    outcome.skipped.push({ name: `${test.module.relativeModuleId}: ${test.fullName}`, reason });
  }
}
