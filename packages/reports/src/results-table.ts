// The table of scores: lm_eval's columns, and beside each score how much of the task it covers and how many answers were cut.
import type { AnswerTally, Coverage, MetricRow } from '@assay/protocol';
import { formatShare } from './format-numbers.ts';
import { describeAnswers } from './answer-notes.ts';
import { describePartialScores, warnOfCoverage } from './coverage-notes.ts';
import { type Selections, warnOfSelections } from './selection-notes.ts';
import { type Column, renderTable } from './text-table.ts';

interface ResultsTableInput {
  rows: readonly MetricRow[];
  /** By task, as in the manifest. */
  coverage: Readonly<Record<string, Coverage>>;
  /** Share of generated answers that were stopped by their token budget, by task; tasks that generate nothing are left out. */
  lengthShare: Readonly<Record<string, number>>;
  /** What else is known of the answers behind each task's score. */
  answers: Readonly<Record<string, AnswerTally>>;
  /** Of tasks of which only some documents were asked. */
  selections: Selections;
}

const COLUMNS: readonly Column[] = [
  { title: 'Tasks', align: 'left' },
  { title: 'Version', align: 'right' },
  { title: 'Filter', align: 'left' },
  { title: 'n-shot', align: 'right' },
  { title: 'Metric', align: 'left' },
  { title: '', align: 'left' },
  { title: 'Value', align: 'right' },
  { title: '', align: 'left' },
  { title: 'Stderr', align: 'right' },
  { title: 'Coverage', align: 'right' },
  { title: 'Cut answers', align: 'right' },
];

/** The table, and below it a line for every warning and every metric that could not be computed. */
export function renderResultsTable({ rows, coverage, lengthShare, answers, selections }: ResultsTableInput): string {
  const [tasks, groups] = [rows.filter(({ group }) => !group), rows.filter(({ group }) => group)];
  const render = (row: MetricRow, place: number, all: readonly MetricRow[]) => renderRow(row, all[place - 1], { coverage, lengthShare });
  const parts = [renderTable(COLUMNS, tasks.map(render))];
  if (groups.length > 0) parts.push(renderTable(COLUMNS.map((column, place) => (place === 0 ? { ...column, title: 'Groups' } : column)), groups.map(render)));
  const notes = [...describeErrors(rows), ...warnOfSelections(selections), ...warnOfCoverage(coverage, rows), ...describePartialScores(rows), ...describeAnswers(lengthShare, answers)];
  return [...parts, ...(notes.length > 0 ? [notes.join('\n')] : [])].join('\n\n');
}

function renderRow(row: MetricRow, previous: MetricRow | undefined, { coverage, lengthShare }: Pick<ResultsTableInput, 'coverage' | 'lengthShare'>): string[] {
  const isContinued = previous?.task === row.task;
  const cut = lengthShare[row.task];
  return [
    isContinued ? '' : row.alias,
    isContinued ? '' : String(row.version),
    row.filter,
    String(row.numFewshot),
    row.mean ? `${row.metric} (mean ${row.mean.replace('_', ' ')})` : row.metric,
    renderDirection(row.higherIsBetter),
    renderValue(row.value),
    '±',
    renderStderr(row.stderr),
    renderCoverage(coverage[row.task]),
    cut === undefined ? '' : formatShare(cut),
  ];
}

function renderDirection(higherIsBetter: boolean | null): string {
  if (higherIsBetter === null) return '';
  return higherIsBetter ? '↑' : '↓';
}

function renderValue(value: MetricRow['value']): string {
  if (value === null) return 'none';
  return typeof value === 'number' ? value.toFixed(4) : value;
}

function renderStderr(stderr: MetricRow['stderr']): string {
  if (stderr === null) return 'N/A';
  return typeof stderr === 'number' ? stderr.toFixed(4) : stderr;
}

function renderCoverage(coverage: Coverage | undefined): string {
  if (!coverage) return '';
  return coverage.requests === 0 ? 'none' : formatShare(coverage.share);
}

function describeErrors(rows: readonly MetricRow[]): string[] {
  return rows.filter(({ error }) => error !== undefined).map(({ task, metric, error }) => `! ${task}: ${metric} could not be computed: ${error}`);
}
