// No more replicas than there are requests: a further one would load the model and find nothing to do. Invariant: how a replica is
// laid out is decided before this, since that decides the bits of the results and the number of replicas does not.
import type { Plan } from './plan.ts';

type Placed = Pick<Plan, 'data' | 'cpuSets' | 'deviceSets' | 'why'>;

/** The plan itself where there are requests enough. */
export function limitReplicas<Limited extends Placed>(plan: Limited, requests: number): Limited {
  const data = mostReplicas(plan.data, requests);
  if (data === plan.data) return plan;
  return { ...plan, data, cpuSets: plan.cpuSets.slice(0, data), deviceSets: plan.deviceSets.slice(0, data), why: [...plan.why, explainLimit(plan.data, requests)] };
}

export function mostReplicas(data: number, requests: number): number {
  return Math.max(1, Math.min(data, requests));
}

export function explainLimit(data: number, requests: number): string {
  return `data=${mostReplicas(data, requests)} in place of ${data}: the run has ${requests} ${requests === 1 ? 'request' : 'requests'}, and a further replica would have none`;
}
