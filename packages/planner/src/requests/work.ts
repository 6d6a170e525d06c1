// The units that a run's work is counted in, and sums of them. Invariant: every unit is there, whatever was done of it.

/**
 * Work by what it costs: requests, scored prompt tokens, prompt tokens of generations, generated tokens, and attention: pairs of
 * a prompt's tokens, of which a long prompt has more to each token than a short one.
 */
export const WORK_UNITS = ['request', 'scored', 'prefill', 'decode', 'attention'] as const;
export type WorkUnit = (typeof WORK_UNITS)[number];
export type Work = Record<WorkUnit, number>;

export const NO_WORK: Readonly<Work> = { request: 0, scored: 0, prefill: 0, decode: 0, attention: 0 };

export function addWork(a: Work, b: Work): Work {
  return mapUnits((unit) => a[unit] + b[unit]);
}

export function mapUnits(valueOf: (unit: WorkUnit) => number): Work {
  return Object.fromEntries(WORK_UNITS.map((unit) => [unit, valueOf(unit)])) as Work;
}

/** Seconds that `work` takes at `rates` (seconds a unit). */
export function secondsOf(work: Work, rates: Work): number {
  return WORK_UNITS.reduce((sum, unit) => sum + work[unit] * rates[unit], 0);
}
