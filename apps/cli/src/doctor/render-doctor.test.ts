import { expect, test } from 'vitest';
import type { DoctorReport } from './examine.ts';
import { renderDoctor } from './render-doctor.ts';

const entry = (name: string, bytes: number | null) => ({ name, bytes, purpose: 'P' });
const report = {
  version: '0.1.0', home: '/home', usable: true, findings: [],
  machine: { cpus: { count: 2, model: 'cores' }, memoryBytes: 2 ** 30, gpus: [] },
  homeEntries: [entry('models', 260 * 2 ** 20), entry('python-0123456789abcdef', 2 ** 31), entry('python-0123456789abcdef-and-more', 7), entry('logs', null)],
} as unknown as DoctorReport;

test('what lies in ASSAY_HOME is a table whose columns stand below each other, whatever the longest name', () => {
  const rows = renderDoctor(report).split('\n').filter((line) => line.endsWith('  P'));
  expect(rows).toHaveLength(4);
  expect(new Set(rows.map((row) => row.length)).size).toBe(1);
});
