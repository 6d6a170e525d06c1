// The doctor's findings as a person reads them: one line a check, the remedy below what is wrong.
import { formatBytes } from '@assay/domain';
import type { DoctorReport } from './examine.ts';

const MARKS = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' } as const;

export function renderDoctor({ version, machine, findings, home, homeEntries, usable }: DoctorReport): string {
  const gpus = machine.gpus.length === 0 ? 'none' : machine.gpus.map(({ name, memoryBytes }) => `${name} ${formatBytes(memoryBytes)}`).join(', ');
  const nameWidth = 1 + Math.max(0, ...homeEntries.map(({ name }) => name.length));
  const lines = [
    `assay ${version} on ${machine.cpus.count} × ${machine.cpus.model}, ${formatBytes(machine.memoryBytes)} memory; GPUs: ${gpus}`,
    '',
    ...findings.flatMap(({ level, check, text, remedy }) => [`${MARKS[level]}${check.padEnd(14)} ${text}`, ...(remedy === null ? [] : [`${' '.repeat(23)}${remedy}`])]),
    '',
    `${home}  (ASSAY_HOME; everything in it can be deleted)`,
    ...homeEntries.map(({ name, bytes, purpose }) => `  ${name.padEnd(nameWidth)}${(bytes === null ? '-' : formatBytes(bytes)).padStart(10)}  ${purpose}`),
    '',
    usable ? 'This machine can run evaluations.' : 'This machine cannot run evaluations yet: see PROBLEM above.',
  ];
  return `${lines.join('\n')}\n`;
}
