// Learns how many seconds each unit of work takes from what a run has done so far. Where the observations cannot tell two units
// apart, their ratio stays what it is elsewhere; a unit not seen yet is scaled like the seen ones.
import { TOKEN_WEIGHTS } from '../requests/request-costs.ts';
import { addWork, mapUnits, NO_WORK, secondsOf, type Work, WORK_UNITS, type WorkUnit } from '../requests/work.ts';

/** Work done in an interval of `seconds`. */
export interface WorkInterval {
  seconds: number;
  work: Work;
}

// How far a rate may well be from its prior, against how far an interval's seconds may well be from the mean, squared.
const NOISE_TO_SPREAD = 0.25;
const LEAST_SHARE = 0.05;
const SWEEPS = 60;

/** Seconds per unit, or undefined before any work was done. Ridge regression towards the prior ratios, no rate far below its prior. */
export function learnRates(intervals: readonly WorkInterval[], prior: Work = TOKEN_WEIGHTS): Work | undefined {
  const total = intervals.reduce((sum, { work }) => addWork(sum, work), { ...NO_WORK });
  const seconds = intervals.reduce((sum, interval) => sum + interval.seconds, 0);
  const priorSeconds = secondsOf(total, prior);
  if (priorSeconds <= 0 || seconds <= 0) return undefined;
  const scale = seconds / priorSeconds;
  const expected = mapUnits((unit) => prior[unit] * scale);
  const rates = { ...expected };
  const ridge = NOISE_TO_SPREAD * (seconds / intervals.length) ** 2;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const unit of WORK_UNITS) rates[unit] = improveRate(unit, { intervals, rates, expected, ridge: ridge / expected[unit] ** 2 });
  }
  // The work done took exactly the time it took; only seen units are corrected.
  const explained = secondsOf(total, rates);
  return explained > 0 ? mapUnits((unit) => (total[unit] > 0 ? (rates[unit] * seconds) / explained : rates[unit])) : expected;
}

interface ImproveInput {
  intervals: readonly WorkInterval[];
  rates: Work;
  expected: Work;
  ridge: number;
}

/** The rate of one unit that fits best while the others stay. */
function improveRate(unit: WorkUnit, { intervals, rates, expected, ridge }: ImproveInput): number {
  let numerator = ridge * expected[unit];
  let denominator = ridge;
  for (const { seconds, work } of intervals) {
    const others = secondsOf(work, rates) - work[unit] * rates[unit];
    numerator += work[unit] * (seconds - others);
    denominator += work[unit] ** 2;
  }
  return Math.max(LEAST_SHARE * expected[unit], numerator / denominator);
}
