// The plan of a run that goes on: all that its results may depend on as it was, over the devices that are there now.
import { AssayError } from '@assay/domain';
import { mostReplicas } from '../limit-replicas.ts';
import type { Plan } from '../plan.ts';
import { regroup } from './regroup.ts';

const LAYOUT_FIELDS = ['data', 'cpuSets', 'deviceSets', 'tensorSizes', 'rungRoom', 'memoryLimitBytes'] as const satisfies readonly (keyof Plan)[];

/** `chosen`: what would be planned today. Throws PLAN_IMPOSSIBLE where too few devices are left for the ranks of one replica. */
export function resumePlan(stored: Plan, chosen: Plan): Plan {
  const layout = Object.fromEntries(LAYOUT_FIELDS.flatMap((field) => (chosen[field] === undefined ? [] : [[field, chosen[field]]])));
  // Replicas share the cores, so their threads follow from their number.
  const threadsPerWorker = stored.determinism === 'fast' ? chosen.threadsPerWorker : stored.threadsPerWorker;
  return { ...stored, ...layout, ...regroupAfterRung(stored, chosen), threadsPerWorker };
}

/** A rung may have cut the model over more ranks than are planned for a first start. */
function regroupAfterRung({ device, tensor, pipeline }: Plan, chosen: Plan): Partial<Plan> {
  if (device === 'cpu' || (tensor === chosen.tensor && pipeline === chosen.pipeline)) return {};
  const { rungRoom } = chosen;
  const groups = regroup({ data: rungRoom?.keepsData ? chosen.data : mostReplicas(Infinity, chosen.workload.requests), ...(rungRoom ? { rungRoom } : {}) }, tensor * pipeline);
  if (groups) return groups;
  throw new AssayError('PLAN_IMPOSSIBLE', {
    problem: `the run goes on with tensor=${tensor} and pipeline=${pipeline}, and there are ${rungRoom?.deviceIds.length ?? 0} GPUs`,
    instead: `Resume it where there are at least ${tensor * pipeline} for each replica.`,
  });
}
