// What earlier runs took against what the roofline says of the same work, part by part, and the factors that follow. Whatever
// else a machine does makes a run slower and never faster, so the lower of the middle ones counts: a run under load moves nothing.
// The middle is that of the work, not of the runs: ten documents are mostly fixed cost, and say little about a thousand.
import { deviceKindOf } from '../node/device-kinds.ts';
import { estimateTime, type TimeCorrections, type TimedPart, TIMED_PARTS } from './estimate-time.ts';
import type { NodeFacts } from '../node/node-facts.ts';
import type { Plan } from '../plan.ts';
import { secondsOf, type Work } from '../requests/work.ts';
import type { DoneWork, WorkloadSummary } from '../requests/workload.ts';

/** Of the parts that could be measured. */
type TimeObservation = Partial<Record<TimedPart, { predictedSeconds: number; measuredSeconds: number }>>;

export interface MeasuredRun {
  done: DoneWork;
  /** Seconds a unit of work, as the run has shown them, and what the whole of it took. */
  rates: Work;
  phaseSeconds: number;
  /** From the process to its readiness to load, and from there to its readiness to answer. */
  startSeconds?: number | undefined;
  loadSeconds?: number | undefined;
}

// Prompts or answers of less than this say more about the clock than about the engine.
const LEAST_SECONDS: Readonly<Record<TimedPart, number>> = { start: 0.01, load: 0.01, prefill: 0.5, decode: 0.5 };
// However far off the model is, a factor beyond this is a measurement of something else.
const LARGEST_FACTOR = 30;

/** Each part as the run took it beside what the roofline says of it without any correction. */
export function observeTime(plan: Plan, node: NodeFacts, { done, rates, phaseSeconds, startSeconds, loadSeconds }: MeasuredRun): TimeObservation {
  const predicted = estimateTime({ facts: plan.facts, plan: { ...plan, workload: { ...plan.workload, ...done } }, kind: deviceKindOf(node) });
  const decode = done.newTokens * rates.decode;
  const all = secondsOf(workOf(done), rates);
  const share = all > 0 ? phaseSeconds / all : 0;
  const measured = { start: startSeconds, load: loadSeconds, prefill: (all - decode) * share, decode: decode * share };
  return Object.fromEntries(TIMED_PARTS.flatMap((part) => {
    const [predictedSeconds, measuredSeconds = 0] = [predicted[`${part}Seconds`], measured[part]];
    return predictedSeconds > 0 && measuredSeconds >= LEAST_SECONDS[part] ? [[part, { predictedSeconds, measuredSeconds }] as const] : [];
  }));
}

/** Factors for the roofline's parts; undefined where nothing was measured. */
export function fitCorrections(observations: readonly TimeObservation[]): TimeCorrections | undefined {
  if (observations.length === 0) return undefined;
  const factors = TIMED_PARTS.flatMap((part) => {
    const seen = observations.flatMap(({ [part]: one }) => (one ? [one] : []));
    const middle = pickLowerMiddle(seen, { sizeOf: ({ measuredSeconds, predictedSeconds }) => measuredSeconds / predictedSeconds, weightOf: ({ predictedSeconds }) => predictedSeconds });
    return middle ? [[part, Math.min(LARGEST_FACTOR, Math.max(1 / LARGEST_FACTOR, middle.measuredSeconds / middle.predictedSeconds))] as const] : [];
  });
  return { ...Object.fromEntries(factors), runs: observations.length };
}

/** Of several runs' rates those of the run that would do this work in the middle one of their times. */
export function pickRates(runs: readonly Work[], workload: WorkloadSummary): Work | undefined {
  const work = workOf(workload);
  return pickLowerMiddle(runs, { sizeOf: (rates) => secondsOf(work, rates), weightOf: () => 1 });
}

function workOf({ requests, scoredTokens, promptTokens, newTokens, promptPairs }: DoneWork): Work {
  return { request: requests, scored: scoredTokens, prefill: promptTokens - scoredTokens, decode: newTokens, attention: promptPairs };
}

interface Measure<Value> {
  sizeOf(value: Value): number;
  weightOf(value: Value): number;
}

/** The first one, by size, up to which half of the weight lies. */
function pickLowerMiddle<Value>(values: readonly Value[], { sizeOf, weightOf }: Measure<Value>): Value | undefined {
  const half = values.reduce((sum, value) => sum + weightOf(value), 0) / 2;
  let reached = 0;
  return values.toSorted((a, b) => sizeOf(a) - sizeOf(b)).find((value) => {
    reached += weightOf(value);
    return reached >= half;
  });
}
