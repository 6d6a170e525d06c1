// Plans a run without a device and writes the plan, the requests it is for, and where every setting came from.
import { EXIT_CODES, redactSecrets } from '@assay/domain';
import { planEvaluation, type PlanReport } from '@assay/pipeline';
import { renderPlan, renderTable } from '@assay/reports';
import type { Composed } from '../config/compose.ts';
import type { Surroundings } from '../surroundings.ts';
import { renderSettings } from './render-settings.ts';
import { startEvaluation } from './start.ts';

export async function planAndReport(composed: Composed, options: { json?: boolean; explain?: boolean }, around: Surroundings): Promise<number> {
  const report = await startEvaluation(composed, around, { outcome: 'plan', work: planEvaluation });
  const { config, provenance } = composed;
  around.stdout.write(options.json
    ? `${JSON.stringify({ config: redactSecrets(config), provenance, ...report }, null, 2)}\n`
    : `\n${renderTasks(report)}\n\n${renderPlan(report.plan)}\n\n${renderSettings(config, provenance, { all: options.explain === true })}\n`);
  return EXIT_CODES.done;
}

function renderTasks({ rendered, shards }: PlanReport): string {
  const columns = ['task', 'kind', 'n-shot', 'documents', 'requests', 'cut prompts'].map((title, place) => ({ title, align: place < 2 ? 'left' as const : 'right' as const }));
  const rows = rendered.tasks.map((task) => [task.task, task.outputType, String(task.numFewshot), `${task.documents}/${task.documentsTotal}`, String(task.requests), String(task.truncatedRequests)]);
  return `${renderTable(columns, rows)}\n\n${rendered.requests} requests, ${rendered.tokens} prompt tokens, window ${rendered.maxModelLen}, ${shards.length} shards`;
}
