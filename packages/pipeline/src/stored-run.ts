// What an earlier start left in the run directory, read whole before any process is started, so that damage is said first.
import { readFile } from 'node:fs/promises';
import { describeDamage } from '@assay/domain';
import { isPlan, type Plan } from '@assay/planner';
import { parseRequestIndex, type RequestIndex } from '@assay/protocol';
import { readIdentity, readRunJson, type ResultLedger, scanResults } from '@assay/store';
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
export async function readStoredRun({ determinism, events, run }: RunContext): Promise<StoredRun> {
  const { identity, index: indexPath, plan } = run.paths;
  const settled = await readIdentity(run);
  if (!isMapping(settled)) throw describeDamage(identity, 1, 'it does not hold an identity');
  const index = settled.semantic ? await readIndex(indexPath) : undefined;
  return {
    plan: await readStoredPlan(plan),
    results: index && (await scanResults(run.dir, { index, history: events.history, completeShardsOnly: determinism === 'strict' })),
  };
}

/** The plan of an earlier start; undefined where none was made. */
export async function readStoredPlan(path: string): Promise<StoredPlan | undefined> {
  const stored = await readRunJson(path);
  if (stored === undefined) return undefined;
  const { plan, rung } = isMapping(stored) ? stored : {};
  if (!isPlan(plan) || typeof rung !== 'number') throw describeDamage(path, 1, 'it does not hold a whole plan');
  return { plan, rung };
}

async function readIndex(path: string): Promise<RequestIndex | undefined> {
  const file = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return file && parseRequestIndex(file, path);
}

const isMapping = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
