// PLAN: how the model and the batches lie on the devices, and the order and cut of what is still to run. Pure choices are the
// planner's; this stage reads the files it needs and writes what was chosen.
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import { cutShards, digestOrder, explainPlan, kvCacheTokens, type ModelFacts, type NodeFacts, orderRequests, orderRule, type Plan, type PlanChoice, type PlanInput, type Shard, type TimeEstimate } from '@assay/planner';
import type { Rendered, RequestIndex } from '@assay/protocol';
import { orderFile, readStoredResults, type ResultLedger, writeFileAtomic, writeRunJson } from '@assay/store';
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

export interface Dispatchable {
  /** Path in the run directory. */
  file: string;
  order: Uint32Array;
  shards: Shard[];
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
  const plan = stored?.plan ? keepNumerics(stored.plan.plan, choice.plan) : choice.plan;
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

/** Orders and cuts the requests that have no final result. strict cuts all of them and drops the shards that are whole. */
export async function orderOpenRequests(context: RunContext, { plan, index, results, answers }: PlannedRun): Promise<Dispatchable> {
  const { config, determinism, events, epoch, run } = context;
  const isStrict = determinism === 'strict';
  const open = results.openRows(config.max_tries);
  const rows = isStrict ? undefined : open;
  const expected = expectAnswers(context, answers);
  const lengths = expected ? { expectedNewTokens: answers.readDescribed(expected) } : {};
  const order = orderRequests(index, { kvCacheTokens: kvCacheTokens(plan), ...lengths, ...(rows ? { rows } : {}) });
  const cut = cutShards(order, index, { workers: plan.data, determinism, ...lengths });
  const shards = isStrict ? cut.filter(({ begin, end }) => order.subarray(begin, end).some((row) => !results.isFinal(row))) : cut;
  const file = orderFile(epoch);
  await writeFileAtomic(join(run.dir, file), Buffer.from(order.buffer, order.byteOffset, order.byteLength));
  await events.append({ type: 'order_written', epoch, file, rule: orderRule, digest: digestOrder(order), rows: order.length, shards: shards.length, ...(expected ? { expectedNewTokens: expected } : {}) });
  return { file, order, shards };
}

/**
 * What stands for budgets in the order, by task name. A run that has begun keeps what it began with; where the order may touch the
 * bits of the results or is promised to be the same again, it is made of the requests alone.
 */
function expectAnswers({ determinism, events }: RunContext, answers: AnswerHistory): Record<string, number> | undefined {
  if (determinism !== 'fast') return undefined;
  const [first] = events.history.orders;
  return first ? first.expectedNewTokens : answers.describe();
}

const LAYOUT_FIELDS = ['data', 'cpuSets', 'deviceSets', 'memoryLimitBytes'] as const satisfies readonly (keyof Plan)[];

function keepNumerics(stored: Plan, chosen: Plan): Plan {
  const layout = Object.fromEntries(LAYOUT_FIELDS.map((field) => [field, chosen[field]]));
  // Replicas share the cores, so their threads follow from their number.
  const threadsPerWorker = stored.determinism === 'fast' ? chosen.threadsPerWorker : stored.threadsPerWorker;
  return { ...stored, ...layout, threadsPerWorker };
}
