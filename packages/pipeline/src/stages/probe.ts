// PROBE: each replica loads the plan and runs the run's worst dummy steps, all at the same time. Out of memory takes the next
// rung in fresh processes; what fits stays warm and then serves.
import { AssayError, formatBytes } from '@assay/domain';
import { nextRung, type Plan, planProbeSteps } from '@assay/planner';
import { FAILURE_CLASSES, type Failure, type Loaded, type Probed, type RequestIndex } from '@assay/protocol';
import { readRunJson, writeRunJson } from '@assay/store';
import { WorkerFailure } from '@assay/workers';
import { describeFailure } from '../agent/describe-failure.ts';
import type { EnginePool } from '../agent/engine-pool.ts';
import type { RunContext } from '../run-context.ts';
import type { ProbeReport, ProbeRung } from './probe-report.ts';
import { writePlan } from './plan.ts';

interface ProbeOutcome {
  report: ProbeReport;
  /** Every plan tried, the one that fits last. */
  tried: Plan[];
  loaded: Loaded[];
}

/** Throws PROBE_OOM when no rung is left, ENGINE_LOAD where a smaller plan would not help. */
export async function probePlan(context: RunContext, pool: EnginePool, { plan, index }: { plan: Plan; index: RequestIndex }): Promise<ProbeOutcome> {
  const tried: Plan[] = [plan];
  const { history } = context.events;
  const rungs = await readEarlierRungs(context);
  const startedAtMs = Date.now();
  for (;;) {
    const current = tried.at(-1) as Plan;
    const attempt = await tryPlan(context, pool, { plan: current, index, rung: history.rungs.length });
    rungs.push(attempt.rung);
    const report = { rungs, seconds: (Date.now() - startedAtMs) / 1000 };
    await recordRung(context, report, attempt.rung);
    if (attempt.loaded) return { report, tried, loaded: attempt.loaded };
    const next = takeRung({ tried, failed: attempt.rung, log: pool.replicas[0]?.handle.logFile ?? '' });
    const from = history.rungs.length;
    await context.events.append({ type: 'rung_taken', epoch: context.epoch, from, to: from + 1, why: attempt.rung.failure?.message ?? 'oom' });
    tried.push(next);
    await writePlan(context, next);
    await pool.respawn();
  }
}

/** Rungs that earlier starts found too large: they stay on record. */
async function readEarlierRungs({ run }: RunContext): Promise<ProbeRung[]> {
  const report = (await readRunJson(run.paths.probe)) as ProbeReport | undefined;
  return report?.rungs.filter(({ verdict }) => verdict === 'oom') ?? [];
}

async function tryPlan(
  context: RunContext,
  pool: EnginePool,
  { plan, index, rung }: { plan: Plan; index: RequestIndex; rung: number },
): Promise<{ rung: ProbeRung; loaded?: Loaded[] }> {
  const startedAtMs = Date.now();
  const facts = { rung, plan, predictedBytes: plan.memory.peakBytes };
  const seconds = () => (Date.now() - startedAtMs) / 1000;
  try {
    const loaded = await pool.load(plan);
    if (!context.config.probe) {
      const measuredBytes = Math.max(...loaded.map(({ peakBytes }) => peakBytes));
      return { loaded, rung: { ...facts, verdict: 'skipped', seconds: seconds(), measuredBytes, failure: undefined, replicas: [] } };
    }
    const probed = await pool.probe(planProbeSteps(index, plan));
    const verdict = probed.find((reply) => reply.verdict !== 'fits')?.verdict ?? 'fits';
    const summary = { ...facts, verdict, seconds: seconds(), ...summarize(pool, probed) };
    return verdict === 'fits' ? { loaded, rung: summary } : { rung: summary };
  } catch (thrown) {
    if (!(thrown instanceof WorkerFailure) || context.stop.aborted || context.drain.aborted) throw thrown;
    const failure = describeFailure(thrown);
    const verdict = failure.class === 'oom' ? 'oom' : 'failed';
    return { rung: { ...facts, verdict, seconds: seconds(), measuredBytes: undefined, failure, replicas: [] } };
  }
}

function summarize(pool: EnginePool, probed: readonly Probed[]) {
  return {
    measuredBytes: Math.max(...probed.map(({ peakBytes }) => peakBytes)),
    failure: probed.find(({ failure }) => failure)?.failure,
    replicas: probed.map(({ peakBytes, seconds }, number) => ({ worker: pool.replicas[number]?.handle.name ?? '', peakBytes, seconds })),
  };
}

function takeRung({ tried, failed, log }: { tried: readonly Plan[]; failed: ProbeRung; log: string }): Plan {
  const failure: Failure = failed.failure ?? { class: 'unknown', message: 'no reason was given' };
  if (failed.verdict !== 'oom') {
    throw new AssayError('ENGINE_LOAD', { class: failure.class, problem: failure.message, instead: `${capitalize(FAILURE_CLASSES[failure.class].remedy)}. The log is ${log}.` });
  }
  const next = nextRung(tried.at(-1) as Plan, failure, tried);
  if (next) return next;
  const { totalBytes } = (tried.at(-1) as Plan).memory;
  throw new AssayError('PROBE_OOM', {
    problem: `${tried.length} plans were tried, the last wants about ${formatBytes(totalBytes)} (${failure.message})`,
    instead: 'Raise limits.memory, lower max_model_len, or use a smaller or quantised model.',
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

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
