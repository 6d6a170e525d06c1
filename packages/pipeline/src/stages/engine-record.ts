// engine.json: what the engine was asked for and what it said, written as soon as it is warm. A resumed run may need no engine any
// more, and its manifest is composed from this.
import type { Plan } from '@assay/planner';
import type { Loaded, Rank } from '@assay/protocol';
import { readIdentity, settleIdentity, writeRunJson } from '@assay/store';
import type { Hello } from '@assay/workers';
import { describeNumerics } from '../manifest/engine.ts';
import { describeWeights } from '../manifest/sources.ts';
import type { RunContext } from '../run-context.ts';

const RUNG_FIELDS = ['maxNumSeqs', 'maxNumBatchedTokens', 'enforceEager', 'tensor'] as const;

export interface EngineRecord {
  /** Engine arguments as given by the user and the plan. */
  asked: Record<string, unknown>;
  hello: Hello;
  /** Of the first replica: the others have loaded the same. */
  loaded: Loaded;
  plan: Plan;
  replicas: ReplicaRecord[];
}

export interface ReplicaRecord {
  worker: string;
  /** Ids of the GPUs that were leased for it, in the order in which its process counts them; none on CPU. */
  devices: string[];
  ranks: Rank[];
}

/** What each replica had and said. `loaded` is in the order of the replicas. */
export function recordReplicas({ deviceSets }: Pick<Plan, 'deviceSets'>, workers: readonly string[], loaded: readonly Loaded[]): ReplicaRecord[] {
  return loaded.map(({ effective }, number) => ({ worker: workers[number] ?? `engine-${number}`, devices: deviceSets[number] ?? [], ranks: effective.parallel.ranks }));
}

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
