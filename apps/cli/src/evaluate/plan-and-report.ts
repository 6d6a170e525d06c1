// Plans a run without a device and writes the plan, what else was weighed, the requests it is for, and where every setting came from.
import { EXIT_CODES, redactSecrets } from '@assay/domain';
import { type Candidate, describeDevices, type NodeFacts, type PlanChoice, planEvaluation, type PlanReport } from '@assay/pipeline';
import { renderCandidates, renderPlan, renderTable } from '@assay/reports';
import type { Composed } from '../config/compose.ts';
import { reportError } from '../errors.ts';
import type { Surroundings } from '../surroundings.ts';
import { renderSettings } from './render-settings.ts';
import { startEvaluation } from './start.ts';

interface PlanOptions {
  json: boolean;
  explain: boolean;
  /** Hardware to plan for in place of what is here. */
  node: NodeFacts | undefined;
}

export async function planAndReport(composed: Composed, { json, explain, node }: PlanOptions, around: Surroundings): Promise<number> {
  const weighed: { choice?: PlanChoice } = {};
  const work = (input: Parameters<typeof planEvaluation>[0]) => planEvaluation({ ...input, ...(node ? { node } : {}) }, (choice) => { weighed.choice = choice; });
  const { config, provenance } = composed;
  try {
    const report = await startEvaluation(composed, around, { outcome: 'plan', work });
    const candidates = weighed.choice?.candidates ?? [];
    around.stdout.write(json
      ? `${JSON.stringify({ config: redactSecrets(config), provenance, ...report, candidates: candidates.map(describeCandidate) }, null, 2)}\n`
      : `\n${[renderTasks(report), renderPlan(report.plan, report.time), ...(explain ? [explainCandidates(candidates, report.node)] : []), renderSettings(config, provenance, { all: explain })].join('\n\n')}\n`);
    return EXIT_CODES.done;
  } catch (thrown) {
    // Also where nothing fits, what was weighed says how far off each is.
    const { choice } = weighed;
    if (!choice || choice.plan) throw thrown;
    if (explain && !json) around.stdout.write(`\n${explainCandidates(choice.candidates, choice.node)}\n\n`);
    return reportError(thrown, around, { candidates: choice.candidates.map(describeCandidate) });
  }
}

function explainCandidates(candidates: readonly Candidate[], node: NodeFacts): string {
  const gpus = node.gpus.map(({ memoryBytes }) => memoryBytes);
  return renderCandidates(candidates, { device: describeDevices(node), deviceMemoryBytes: gpus.length > 0 ? Math.min(...gpus) : undefined });
}

/** The model's facts are the same for all and stand in the plan. */
function describeCandidate({ plan, ...candidate }: Candidate): Record<string, unknown> {
  if (!plan) return candidate;
  const { maxNumSeqs, maxNumBatchedTokens, maxModelLen, kvCacheBytes, enforceEager, dtype, memoryLimitBytes, why } = plan;
  return { ...candidate, maxNumSeqs, maxNumBatchedTokens, maxModelLen, kvCacheBytes, enforceEager, dtype, memoryLimitBytes, why };
}

function renderTasks({ rendered, shards }: PlanReport): string {
  const columns = ['task', 'kind', 'n-shot', 'documents', 'requests', 'cut prompts'].map((title, place) => ({ title, align: place < 2 ? 'left' as const : 'right' as const }));
  const rows = rendered.tasks.map((task) => [task.task, task.outputType, String(task.numFewshot), `${task.documents}/${task.documentsTotal}`, String(task.requests), String(task.truncatedRequests)]);
  return `${renderTable(columns, rows)}\n\n${rendered.requests} requests, ${rendered.tokens} prompt tokens, window ${rendered.maxModelLen}, ${shards.length} shards`;
}
