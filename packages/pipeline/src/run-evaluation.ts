// The life of a run: six stages in order, each continuing where the run directory left off. Every exit gives back what was
// taken (workers, Redis, lock) and leaves a run that the same command resumes.
import { AssayError } from '@assay/domain';
import type { Rendered } from '@assay/protocol';
import { readManifest } from '@assay/store';
import { recordEnd } from './early-end.ts';
import { IDLE_CAUSES, IdleClock } from './idle-clock.ts';
import type { RunSummary } from './observer.ts';
import { type Prepared, prepareRun } from './prepare-run.ts';
import { recordReplicas } from './records/engine-record.ts';
import { enterState, type RunContext, timeStage, warn } from './run-context.ts';
import type { RunInput } from './run-input.ts';
import { type RunProcesses, startProcesses } from './run-processes.ts';
import { summarizeRun, summarizeSealed } from './run-summary.ts';
import { describeScores } from './scores-record.ts';
import { createDispatcher } from './stages/dispatch.ts';
import { orderOpenRequests } from './stages/order-requests.ts';
import { type PlannedRun, planRun } from './stages/plan.ts';
import { probePlan } from './stages/probe.ts';
import { recordEngine } from './stages/record-engine.ts';
import { renderRequests } from './stages/render.ts';
import { Scorer } from './stages/score.ts';
import { sealRun } from './stages/seal.ts';
import { readStoredRun, type StoredRun } from './stored-run.ts';

/**
 * Runs to completion, or resumes; a sealed run is only read. Throws AssayError, INTERRUPTED included.
 * A run that was found and not named gives way to a new one where tasks, data or model have changed since.
 */
export async function runEvaluation(input: RunInput): Promise<RunSummary> {
  let found = '';
  try {
    return await runOnce(input, (dir) => { found = dir; });
  } catch (thrown) {
    if (found === '' || !(thrown instanceof AssayError) || thrown.code !== 'RUN_DIFFERS') throw thrown;
    input.ui.onNote(`the unfinished run ${found} is of other content (${thrown.details['differences']}); a new run is started`);
    return runOnce({ ...input, startsNew: true }, () => undefined);
  }
}

async function runOnce(input: RunInput, onFound: (dir: string) => void): Promise<RunSummary> {
  const prepared = await prepareRun(input, new IdleClock(Date.now));
  const { context } = prepared;
  let error: AssayError | undefined;
  try {
    const sealed = await readManifest(context.run.dir);
    if (sealed) return summarizeSealed(context, sealed);
    const stored = await readStoredRun(context);
    await prepared.begin();
    const { dir, isFound, isResumed } = context.run;
    if (isFound) onFound(dir);
    context.ui.onNote(`run directory ${dir}${isResumed ? ` (start ${context.epoch}, continues where it was)` : ''}`);
    return await executeRun(prepared, stored);
  } catch (thrown) {
    error = await recordEnd(context, thrown);
    throw error;
  } finally {
    await prepared.close(error);
  }
}

async function executeRun(prepared: Prepared, stored: StoredRun): Promise<RunSummary> {
  const { context } = prepared;
  await enterState(context, 'rendering');
  const processes = await startProcesses(prepared);
  try {
    const rendered = await timeStage(context, 'render', () => processes.untilEnd(renderRequests(context, processes.harness)));
    const { planned, scorer } = await answerRequests(prepared, processes, { rendered, stored });
    return await concludeRun(prepared, processes, { rendered, planned, scorer });
  } finally {
    await processes.stop();
  }
}

interface Answered {
  planned: PlannedRun;
  scorer: Scorer;
}

/** PLAN, PROBE and DISPATCH; tasks are scored meanwhile as they become complete. */
async function answerRequests(
  prepared: Prepared,
  processes: RunProcesses,
  { rendered, stored }: { rendered: Rendered; stored: StoredRun },
): Promise<Answered> {
  const { context } = prepared;
  const { harness, pool, queue } = processes;
  context.idle.setCause('load');
  await enterState(context, 'planning');
  const planned = await timeStage(context, 'plan', () => planRun(context, { node: prepared.node, model: prepared.facts, rendered, stored }));
  const work = await orderOpenRequests(context, planned);
  const { index, results, answers } = planned;
  const scorer = new Scorer(context, { harness, rendered, results });
  scorer.scoreCompleteTasks();
  await enterState(context, 'probing');
  const tried = work.shards.length > 0 ? await warmUp(prepared, processes, planned) : [planned.plan];
  await enterState(context, 'running');
  context.idle.setCause('queue');
  const dispatcher = createDispatcher(context, { work, index, results, queue, pool, answers, tried, onTaskResults: (tasks) => scorer.scoreCompleteTasks(tasks) });
  processes.connect(dispatcher);
  await timeStage(context, 'request', () => dispatcher.run());
  return { planned, scorer };
}

/** Loads and probes; the engines that fit stay warm. Returns the plans tried, the one in force last. */
async function warmUp(prepared: Prepared, processes: RunProcesses, planned: PlannedRun) {
  const { context } = prepared;
  const { pool } = processes;
  const { loaded, tried } = await timeStage(context, 'probe', () => processes.untilEnd(probePlan(context, processes, planned)));
  const [replica, first] = [pool.replicas[0], loaded[0]];
  const plan = tried.at(-1);
  if (!replica || !first || !plan) throw new AssayError('BUG', { problem: 'no replica was loaded' });
  const replicas = recordReplicas(plan, pool.replicas.map(({ handle }) => handle.name), loaded);
  await recordEngine(context, { asked: processes.askedArguments(plan), hello: await replica.handle.hello, loaded: first, plan, replicas });
  return tried;
}

/** SCORE and SEAL. */
async function concludeRun(prepared: Prepared, processes: RunProcesses, { rendered, planned, scorer }: Answered & { rendered: Rendered }): Promise<RunSummary> {
  const { context } = prepared;
  context.idle.setCause('score');
  await enterState(context, 'scoring');
  const stopped = processes.releaseEngines();
  const isComplete = planned.results.finalCount === planned.results.index.count;
  const waived = !isComplete && context.config.waive_coverage;
  await timeStage(context, 'score', () => processes.untilEnd(scorer.finish({ waived })));
  await reportGaps(context, scorer, rendered);
  if (!isComplete && !waived) {
    await enterState(context, 'incomplete');
    return { ...summarizeRun(context, scorer, { rendered, rows: scorer.rows() }), state: 'incomplete' };
  }
  const record = describeScores(context, { rendered, scorer, plan: planned.plan });
  const { rows } = await timeStage(context, 'aggregate', () => processes.untilEnd(scorer.aggregate(record)));
  await stopped;
  await recordIdle(context);
  const harness = await processes.harness.handle.hello;
  const { code, model } = prepared;
  await timeStage(context, 'seal', () => sealRun(context, { code, model, rendered, harness, results: planned.results, scores: scorer, rows, idle: context.idle.share() }));
  await enterState(context, 'sealed');
  return summarizeRun(context, scorer, { rendered, rows });
}

async function reportGaps(context: RunContext, scorer: Scorer, rendered: Rendered): Promise<void> {
  for (const task of scorer.incompleteTasks()) {
    const { answered, requests } = scorer.coverageOf(task);
    const name = rendered.tasks[task]?.task ?? String(task);
    await warn(context, 'COVERAGE', `${name}: ${answered} of ${requests} requests have an answer`);
    if (scorer.isWaived(task)) await context.events.append({ type: 'waived', epoch: context.epoch, what: 'coverage', details: { task: name, answered, requests } });
  }
}

async function recordIdle(context: RunContext): Promise<void> {
  const { idleSeconds } = context.idle.share();
  for (const cause of IDLE_CAUSES) await context.events.append({ type: 'idle', epoch: context.epoch, cause, seconds: idleSeconds[cause] });
}
