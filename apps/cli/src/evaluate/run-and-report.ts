// Runs an evaluation and writes its outcome: a table for people or one JSON object for programs.
import { EXIT_CODES } from '@assay/domain';
import { type RunSummary, runEvaluation } from '@assay/pipeline';
import { renderIdle, renderResultsTable } from '@assay/reports';
import type { Composed } from '../config/compose.ts';
import type { Surroundings } from '../surroundings.ts';
import { startEvaluation } from './start.ts';

export async function runAndReport(composed: Composed, options: { json?: boolean }, around: Surroundings): Promise<number> {
  const summary = await startEvaluation(composed, around, { outcome: 'scores', work: runEvaluation });
  around.stdout.write(options.json ? `${JSON.stringify(summary, null, 2)}\n` : `\n${renderResultsTable(summary)}\n`);
  around.stderr.write(renderEnd(summary));
  return summary.exitCode;
}

function renderEnd({ idle, runDir, state, exitCode }: RunSummary): string {
  const lines = [renderIdle(idle), `run     ${runDir}`];
  if (state === 'incomplete') lines.push('assay: incomplete: some requests have no final result, so there is no headline score', 'The same command runs them again; --waive_coverage scores without them.');
  else if (exitCode === EXIT_CODES.incomplete) lines.push('assay: complete, but some requests have no answer or some metrics no value: see the lines with ! below the scores');
  return `\n${lines.join('\n')}\n`;
}
