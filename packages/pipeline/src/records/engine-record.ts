// engine.json: what the engine was asked for and what it said. A resumed run may need no engine any more, and its manifest is
// composed from this.
import type { Plan } from '@assay/planner';
import type { Loaded, Rank } from '@assay/protocol';
import type { Hello } from '@assay/workers';

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
