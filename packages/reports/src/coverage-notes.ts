// Lines below the table about documents without an answer: how many, and the score under both of its names.
import type { Coverage, MetricRow } from '@assay/protocol';

export function warnOfCoverage(coverage: Readonly<Record<string, Coverage>>, rows: readonly MetricRow[]): string[] {
  return Object.entries(coverage).filter(([, { share }]) => share < 1)
    .map(([task, { answered, requests }]) => `! ${task}: ${answered} of ${requests} requests have an answer; ${describeFate(rows.filter((row) => row.task === task))}`);
}

function describeFate(rows: readonly MetricRow[]): string {
  if (rows.length === 0) return 'it has no score yet';
  return rows.some(({ value }) => value !== null) ? 'its score is over the documents that do' : 'it has no score';
}

/** The second number only where there is one: a perplexity has no value that stands for a wrong answer. */
export function describePartialScores(rows: readonly MetricRow[]): string[] {
  return rows.flatMap(({ task, metric, filter, partial }) => {
    if (!partial || typeof partial.answeredOnly !== 'number') return [];
    const { answered, failed, answeredOnly, failuresAsWrong } = partial;
    const second = typeof failuresAsWrong === 'number' ? `; ${failuresAsWrong.toFixed(4)} with the ${failed} failed counted as wrong` : '';
    return [`! ${task}: ${metric},${filter} is ${answeredOnly.toFixed(4)} over the ${answered} documents answered${second}`];
  });
}
