import type { MetricRow } from '@assay/protocol';
import { expect, test } from 'vitest';
import { exitCodeOf } from './run-summary.ts';

const row: MetricRow = { task: 'a', alias: 'a', version: 1, filter: 'none', numFewshot: 0, metric: 'acc', value: 1, stderr: null, higherIsBetter: true, group: false };
const whole = { rows: [row], coverage: { a: { requests: 4, final: 4, answered: 4, share: 1 } }, waivers: [] };

test.each([
  ['all is well: every request has an answer, every metric a value', {}, 0],
  ['a request was rejected', { coverage: { a: { requests: 4, final: 4, answered: 3, share: 0.75 } } }, 1],
  ['a request is open', { coverage: { a: { requests: 4, final: 3, answered: 3, share: 0.75 } } }, 1],
  ['a metric raised', { rows: [{ ...row, value: null, error: 'list index out of range' }] }, 1],
  ['coverage was waived', { waivers: [{ what: 'coverage' }] }, 1],
])('the exit code says so when %s', (_, changes, code) => {
  expect(exitCodeOf({ ...whole, ...changes })).toBe(code);
});
