// The devices of a run in groups of another size: what a rung, and a resume after one, make of them. Invariant: sets are disjoint.
import type { Plan, RungRoom } from '../plan.ts';

export const NO_ROOM: RungRoom = { deviceIds: [], maxPipeline: 1, keepsData: false };

/** Replicas of `ranks` each over all devices of the run, no more than there were; undefined where there are too few devices. */
export function regroup({ data, rungRoom: { deviceIds, keepsData } = NO_ROOM }: Pick<Plan, 'data' | 'rungRoom'>, ranks: number): Pick<Plan, 'data' | 'deviceSets'> | undefined {
  const most = Math.min(data, Math.floor(deviceIds.length / ranks));
  if (most < (keepsData ? data : 1)) return undefined;
  return { data: most, deviceSets: Array.from({ length: most }, (_, replica) => deviceIds.slice(replica * ranks, (replica + 1) * ranks)) };
}
