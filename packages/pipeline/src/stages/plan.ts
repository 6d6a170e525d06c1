// PLAN: how the model and the batches lie on the devices. The pure choice is the planner's; this stage reads the files it needs
// and writes what was chosen.
import { AssayError, type TimeEstimate } from '@assay/domain';
import { explainPlan, type ModelFacts, type NodeFacts, type Plan, type PlanChoice, type PlanInput, resumePlan } from '@assay/planner';
import type { Rendered, RequestIndex } from '@assay/protocol';
import { readStoredResults, type ResultLedger, writeRunJson } from '@assay/store';
import { checkDiskNeed } from '../preflight/disk-need.ts';
import type { AnswerHistory } from '../experience/answer-history.ts';
import type { RunContext } from '../run-context.ts';
import type { StoredRun } from '../stored-run.ts';

export interface PlannedRun {
  plan: Plan;
  /** Predicted, of a run that begins; undefined where it continues. */
  time: TimeEstimate | undefined;
  index: RequestIndex;
  /** An earlier start of this run has chosen the plan. */
  isStored: boolean;
  /** What earlier epochs have stored. */
  results: ResultLedger;
  answers: AnswerHistory;
  /** What the plan was chosen from. */
  input: PlanInput;
}

interface PlanFacts {
  node: NodeFacts;
  model: ModelFacts;
  rendered: Rendered;
  /** Nothing on a first start. */
  stored?: StoredRun;
  /** Called with every candidate, also where none may be taken. */
  onChoice?: (choice: PlanChoice) => void;
}

/** A resumed run keeps the plan it was started with, but for the replicas, which belong to no identity. */
export async function planRun(context: RunContext, { node, model, rendered, stored, onChoice }: PlanFacts): Promise<PlannedRun> {
  const { config, determinism, events, epoch, experience, run } = context;
  const results = stored?.results ?? (await readStoredResults(run, events.history));
  if (!results) throw new AssayError('BUG', { problem: `${run.paths.index} was rendered and is gone` });
  const { index } = results;
  await checkDiskNeed(run.dir, index);
  // What was learned since may not move a run that has begun, nor results that are to depend on the run's settings alone.
  // Times move nothing: they are only shown.
  const answers = experience.answerHistory(rendered);
  const residuals = stored?.plan || determinism !== 'fast' ? undefined : experience.memoryResiduals();
  const input: PlanInput = {
    plan: config.plan, modelArgs: config.model_args, maxBatchSize: config.max_batch_size, limits: config.limits, determinism, node, facts: model, index,
    maxModelLen: rendered.maxModelLen, residuals, expectedNewTokens: answers.meanTokens, correctionsOf: (plan) => experience.timeCorrections(plan),
  };
  const choice = explainPlan(input);
  onChoice?.(choice);
  if (choice.plan === undefined) throw choice.refusal;
  const plan = stored?.plan ? resumePlan(stored.plan.plan, choice.plan) : choice.plan;
  await writePlan(context, plan);
  await events.append({ type: 'plan_chosen', epoch, rung: events.history.rungs.length, plan: { ...plan } });
  const time = stored?.plan ? undefined : choice.candidates.find(({ isChosen }) => isChosen)?.time;
  context.ui.onPlan(plan, time);
  return { plan, time, index, isStored: stored?.plan !== undefined, results, answers, input };
}

/** plan.json: the plan in force, and how many rungs below the first it lies. */
export async function writePlan({ events, run }: RunContext, plan: Plan): Promise<void> {
  await writeRunJson(run.paths.plan, { rung: events.history.rungs.length, plan });
}
