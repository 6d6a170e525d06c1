// Writes engine.json as soon as the engine is warm, and settles the run's identity: nothing that decides the bits may differ from
// what an earlier start settled.
import { readIdentity, settleIdentity, writeRunJson } from '@assay/store';
import { describeNumerics } from '../manifest/engine.ts';
import { describeWeights } from '../manifest/sources.ts';
import type { EngineRecord } from '../records/engine-record.ts';
import type { RunContext } from '../run-context.ts';

const RUNG_FIELDS = ['maxNumSeqs', 'maxNumBatchedTokens', 'enforceEager', 'tensor'] as const;

/** Throws RUN_DIFFERS where a resumed run's engine is another one. */
export async function recordEngine(context: RunContext, record: EngineRecord): Promise<void> {
  await settleIdentity(context.run, 'weights', describeWeights(record.loaded));
  await settleIdentity(context.run, 'numeric', await keepFirstPlan(context, describeNumerics(context.config, record)));
  await writeRunJson(context.run.paths.engine, record);
}

/** A smaller plan taken in mid-run stands in the events, by shard: the run's identity stays that of the plan it began with. */
async function keepFirstPlan({ run, events }: RunContext, numeric: Record<string, unknown>): Promise<Record<string, unknown>> {
  if (!events.history.rungs.some(({ shard }) => shard !== undefined)) return numeric;
  const first = (await readIdentity(run)).numeric ?? {};
  return { ...numeric, ...Object.fromEntries(RUNG_FIELDS.filter((field) => field in first).map((field) => [field, first[field]])) };
}
