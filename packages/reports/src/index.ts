// Texts of numbers computed elsewhere. Pure: values in, strings out; widths are passed in.
export { formatSeconds, formatShare } from './format-numbers.ts';
export { type IdleView, renderIdle } from './idle-line.ts';
export { type MemoryView, type PlanView, renderPlan } from './plan-view.ts';
export { type ProbeView, renderProbe } from './probe-view.ts';
export { type ProgressStyle, type ProgressView, renderProgress } from './progress-line.ts';
export { renderResultsTable, type ResultsTableInput } from './results-table.ts';
export { type Align, type Column, renderTable } from './text-table.ts';
