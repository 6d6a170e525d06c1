// What an earlier start left in the run directory, read whole before any process is started, so that damage is said first.
import { describeDamage } from '@assay/domain';
import { isPlan, type Plan } from '@assay/planner';
import { readIdentity, readRunJson, readStoredResults, type ResultLedger } from '@assay/store';
import type { RunContext } from './run-context.ts';

interface StoredPlan {
  plan: Plan;
  /** How many rungs it lies below the first. */
  rung: number;
}

export interface StoredRun {
  plan: StoredPlan | undefined;
  /** By the requests as they were rendered then, which this start's must equal; undefined where that is not known. */
  results: ResultLedger | undefined;
}

/** Throws RESULTS_DAMAGED. */
export async function readStoredRun({ events, run }: RunContext): Promise<StoredRun> {
  const { identity, plan } = run.paths;
  const settled = await readIdentity(run);
  if (!isMapping(settled)) throw describeDamage(identity, undefined, 'it does not hold an identity');
  return { plan: await readStoredPlan(plan), results: settled.semantic ? await readStoredResults(run, events.history) : undefined };
}

/** The plan of an earlier start; undefined where none was made. */
export async function readStoredPlan(path: string): Promise<StoredPlan | undefined> {
  const stored = await readRunJson(path);
  if (stored === undefined) return undefined;
  const { plan, rung } = isMapping(stored) ? stored : {};
  if (!isPlan(plan) || typeof rung !== 'number') throw describeDamage(path, undefined, 'it does not hold a whole plan');
  return { plan, rung };
}

const isMapping = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
