// SEAL: the manifest, composed from the record and renamed in last. Its presence means that the run is complete.
import { readIdentity, sealManifest, settleIdentity, writeRunJson } from '@assay/store';
import { composeManifest, type SealInput } from '../manifest/compose-manifest.ts';
import { describeNumerics } from '../manifest/engine.ts';
import type { EngineRecord } from '../manifest/engine-record.ts';
import { describeWeights } from '../manifest/sources.ts';
import type { RunContext } from '../run-context.ts';

const RUNG_FIELDS = ['maxNumSeqs', 'maxNumBatchedTokens', 'enforceEager', 'tensor'] as const;

/** Writes down what the engine is. A resumed run's must be the same in everything that decides the bits. */
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

export async function sealRun(context: RunContext, input: SealInput): Promise<void> {
  const manifest = await composeManifest(context, input);
  const digest = await sealManifest(context.run.dir, manifest);
  await context.events.append({ type: 'sealed', epoch: context.epoch, digest });
}
