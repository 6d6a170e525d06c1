// PROBE: each replica loads the plan and runs the run's worst dummy steps, all at the same time. Out of memory takes the next
// rung in fresh processes; what fits stays warm and then serves. What earlier runs found too large is not tried again, but what
// they found to fit is.
import { AssayError, formatBytes } from '@assay/domain';
import { nextRung, type Plan, type PlanInput, planProbeSteps, suggestAfterFailure } from '@assay/planner';
import { FAILURE_CLASSES, type Failure, type Loaded, type Probed, type ProbeStep, type RequestIndex } from '@assay/protocol';
import { readRunJson, writeRunJson } from '@assay/store';
import { WorkerFailure } from '@assay/workers';
import { describeFailure } from '../agent/describe-failure.ts';
import type { EnginePool } from '../agent/engine-pool.ts';
import { describeReplica, type FailedReplica, sayWhose, toLoadError } from '../agent/failed-replica.ts';
import type { Replica } from '../agent/replica.ts';
import type { ProbedPlan } from '../experience/experience.ts';
import type { ProbeReport, ProbeRung } from '../records/probe-report.ts';
import type { RunContext } from '../run-context.ts';
import { writePlan } from './plan.ts';

interface ProbeOutcome {
  report: ProbeReport;
  /** Every plan tried, the one that fits last. */
  tried: Plan[];
  loaded: Loaded[];
}

interface Engines {
  pool: EnginePool;
  /** Starts the replicas of the plan where they are not there already, or `afresh`. */
  layOut(plan: Plan, options: { afresh: boolean }): Promise<void>;
}

interface ProbeInput {
  plan: Plan;
  index: RequestIndex;
  /** An earlier start of this run has chosen the plan: no other run's verdict may change it. */
  isStored: boolean;
  /** What the plan was chosen from. */
  input: PlanInput;
}

/** Throws PROBE_OOM when no rung is left, ENGINE_LOAD where a smaller plan would not help. */
export async function probePlan(context: RunContext, { pool, layOut }: Engines, { plan, index, isStored, input }: ProbeInput): Promise<ProbeOutcome> {
  const tried: Plan[] = [plan];
  const { history } = context.events;
  const rungs = await readEarlierRungs(context);
  const startedAtMs = Date.now();
  let afresh = false;
  for (;;) {
    const current = tried.at(-1) as Plan;
    const place = { plan: current, index, rung: history.rungs.length };
    const remembered = isStored ? undefined : recallRung(context, { ...place, tried });
    // A rung may have other replicas than the plan before.
    if (!remembered) await layOut(current, { afresh });
    afresh ||= !remembered;
    const attempt = remembered ? { rung: remembered } : await tryPlan(context, pool, place);
    rungs.push(attempt.rung);
    const report = { rungs, seconds: (Date.now() - startedAtMs) / 1000 };
    await recordRung(context, report, attempt.rung);
    if (attempt.loaded) return { report, tried, loaded: attempt.loaded };
    const next = takeRung({ tried, rung: attempt.rung, input });
    const { failure, failed } = attempt.rung;
    const from = history.rungs.length;
    await context.events.append({ type: 'rung_taken', epoch: context.epoch, from, to: from + 1, why: sayWhose(failure?.message ?? 'oom', current, failed) });
    tried.push(next);
    await writePlan(context, next);
  }
}

/** Rungs from which earlier starts went on to another: they stay on record. */
async function readEarlierRungs({ run }: RunContext): Promise<ProbeRung[]> {
  const report = (await readRunJson(run.paths.probe)) as ProbeReport | undefined;
  return report?.rungs.filter(({ failure }) => failure && FAILURE_CLASSES[failure.class].rung) ?? [];
}

interface Place {
  plan: Plan;
  index: RequestIndex;
  rung: number;
}

/** An earlier run's `oom` on this plan, while there is a smaller one: the last one is tried whatever is remembered. */
function recallRung({ config, experience }: RunContext, { plan, index, rung, tried }: Place & { tried: readonly Plan[] }): ProbeRung | undefined {
  const verdict = config.probe ? experience.recallVerdict(plan, planProbeSteps(index, plan)) : undefined;
  if (verdict?.verdict !== 'oom' || nextRung(plan, { where: verdict.where }, tried) === undefined) return undefined;
  const { at, where, allocationBytes, message = 'out of memory' } = verdict;
  const failure: Failure = { class: 'oom', message: `remembered from ${at.slice(0, 16)}Z: ${message}`, ...(where ? { where } : {}), ...(allocationBytes === undefined ? {} : { allocationBytes }) };
  return { rung, plan, verdict: 'oom', remembered: true, seconds: 0, predictedBytes: plan.memory.peakBytes, measuredBytes: undefined, failure, replicas: [] };
}

/** Says so where an earlier run had room for a plan that now has none. */
function noteVerdict({ experience, ui }: RunContext, { plan, steps, probed, loaded }: { plan: Plan; steps: ProbeStep[]; probed: readonly Probed[]; loaded: readonly Loaded[] }): void {
  const isOom = probed.some(({ verdict }) => verdict === 'oom');
  const before = experience.recallVerdict(plan, steps);
  if (isOom && before?.verdict === 'fits') ui.onNote(`this plan fitted on ${before.at.slice(0, 10)}: something else holds memory that was free then`);
  experience.noteProbe({
    plan, steps, verdict: isOom ? 'oom' : 'fits', failure: probed.find(({ verdict }) => verdict === 'oom')?.failure,
    measured: isOom ? {} : measureKinds(plan, { probed, loaded }),
  });
}

/** Of one rank, on the replica that took the most. */
function measureKinds({ device, tensor, pipeline, memory }: Plan, { probed, loaded }: { probed: readonly Probed[]; loaded: readonly Loaded[] }): ProbedPlan['measured'] {
  const peakBytes = Math.max(...probed.map((reply) => reply.peakBytes), ...loaded.map((reply) => reply.peakBytes));
  // torch tells what it allocated; the driver's context and buffers lie beside it, and are taken as predicted.
  if (device === 'cuda') return { device: peakBytes + memory.terms.context };
  const reserved = probed.map(({ addressSpaceBytes }) => addressSpaceBytes).filter((bytes) => bytes !== undefined);
  return { resident: peakBytes / (tensor * pipeline), ...(reserved.length > 0 ? { address_space: Math.max(...reserved) } : {}) };
}

async function tryPlan(context: RunContext, pool: EnginePool, { plan, index, rung }: Place): Promise<{ rung: ProbeRung; loaded?: Loaded[] }> {
  const startedAtMs = Date.now();
  const facts = { rung, plan, predictedBytes: plan.memory.peakBytes };
  const seconds = () => (Date.now() - startedAtMs) / 1000;
  const steps = planProbeSteps(index, plan);
  try {
    const loaded = await pool.load(plan);
    if (!context.config.probe) {
      const measuredBytes = Math.max(...loaded.map(({ peakBytes }) => peakBytes));
      return { loaded, rung: { ...facts, verdict: 'skipped', seconds: seconds(), measuredBytes, failure: undefined, replicas: [] } };
    }
    const probed = await pool.probe(steps);
    if (probed.every((reply) => reply.verdict !== 'failed')) noteVerdict(context, { plan, steps, probed, loaded });
    const verdict = probed.find((reply) => reply.verdict !== 'fits')?.verdict ?? 'fits';
    const summary = { ...facts, verdict, seconds: seconds(), ...summarize(pool, probed) };
    return verdict === 'fits' ? { loaded, rung: summary } : { rung: summary };
  } catch (thrown) {
    if (!(thrown instanceof WorkerFailure) || context.stop.aborted || context.drain.aborted) throw thrown;
    const failure = describeFailure(thrown);
    const verdict = failure.class === 'oom' ? 'oom' : 'failed';
    if (verdict === 'oom') context.experience.noteProbe({ plan, steps, verdict, failure, outside: thrown.exhausted?.outside, measured: {} });
    return { rung: { ...facts, verdict, seconds: seconds(), measuredBytes: undefined, failure, ...nameFailed(pool.replicas.find(({ handle }) => handle.name === thrown.worker)), replicas: [] } };
  }
}

function summarize(pool: EnginePool, probed: readonly Probed[]) {
  const failed = probed.findIndex(({ verdict }) => verdict !== 'fits');
  return {
    measuredBytes: Math.max(...probed.map(({ peakBytes }) => peakBytes)),
    failure: probed[failed]?.failure,
    ...nameFailed(pool.replicas[failed]),
    replicas: probed.map(({ peakBytes, seconds }, number) => ({ worker: pool.replicas[number]?.handle.name ?? '', peakBytes, seconds })),
  };
}

const nameFailed = (replica: Replica | undefined): { failed?: FailedReplica } => (replica ? { failed: describeReplica(replica) } : {});

/** The plan to try next; throws where the table of failures knows of none that helps, or none is left. */
function takeRung({ tried, rung, input }: { tried: readonly Plan[]; rung: ProbeRung; input: PlanInput }): Plan {
  const failure: Failure = rung.failure ?? { class: 'unknown', message: 'no reason was given' };
  const failed = rung.failed ?? { name: 'the engine', logFile: 'in the run directory' };
  if (!FAILURE_CLASSES[failure.class].rung) throw toLoadError(failure, failed);
  const last = tried.at(-1) as Plan;
  const next = nextRung(last, failure, tried);
  if (next) return next;
  const plans = tried.length === 1 ? 'one plan was tried, and' : `${tried.length} plans were tried,`;
  throw new AssayError('PROBE_OOM', {
    worker: failed.name,
    log: failed.logFile,
    class: failure.class,
    problem: `${plans} the last wants about ${formatBytes(last.memory.totalBytes)} of ${formatBytes(last.memoryLimitBytes)} (${failed.name}: ${failure.message})`,
    instead: `${suggestAfterFailure(input, tried)} The log is ${failed.logFile}.`,
  });
}

async function recordRung(context: RunContext, report: ProbeReport, { rung, verdict, seconds, measuredBytes, predictedBytes, replicas }: ProbeRung): Promise<void> {
  const { events, epoch, metrics, run, ui } = context;
  await writeRunJson(run.paths.probe, report);
  for (const replica of replicas) {
    if (verdict === 'skipped') continue;
    await events.append({ type: 'probe_finished', epoch, rung, worker: replica.worker, verdict, seconds: replica.seconds, peakBytes: replica.peakBytes, predictedBytes });
  }
  if (verdict !== 'skipped') metrics.setState('assay_probe_verdict', verdict);
  metrics.set('assay_probe_duration_seconds', seconds);
  metrics.set('assay_probe_predicted_peak_bytes', predictedBytes);
  if (measuredBytes !== undefined) metrics.set('assay_probe_measured_peak_bytes', measuredBytes);
  metrics.set('assay_plan_rung', rung);
  ui.onProbe(report);
}
