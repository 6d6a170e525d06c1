// Texts of numbers computed elsewhere. Pure: values in, strings out; widths are passed in.
export { warnOfAnswers } from './answer-notes.ts';
export { renderCandidates } from './candidates-view.ts';
export { formatSeconds, formatShare } from './format-numbers.ts';
export { renderIdle } from './idle-line.ts';
export { renderPlan } from './plan-view.ts';
export { renderProbe } from './probe-view.ts';
export { renderProgress } from './progress-line.ts';
export { renderResultsTable } from './results-table.ts';
export { findSelections, type Selections } from './selection-notes.ts';
export { renderTable } from './text-table.ts';
