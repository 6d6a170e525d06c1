// Seconds of what crosses a link: what ranks send each other, and weights that the host keeps.
import type { DeviceKind } from '../node/device-kinds.ts';
import { RUN_DTYPE_BYTES } from '../model/dtypes.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Plan } from '../plan.ts';

// Each layer's attention and feed-forward end with a sum over the tensor ranks.
const SUMS_PER_LAYER = 2;

interface Ranks {
  facts: Pick<ModelFacts, 'hidden' | 'layers'>;
  plan: Pick<Plan, 'tensor' | 'pipeline' | 'dtype'>;
  kind: Pick<DeviceKind, 'link'>;
}

/** Seconds of sums over tensor ranks (a ring sends 2 (t - 1) / t of the data) and of handing on from stage to stage. */
export function communicate({ facts, plan, kind }: Ranks, { tokens, steps }: { tokens: number; steps: number }): number {
  const { tensor, pipeline } = plan;
  const { bytesPerSecond, latencySeconds } = kind.link;
  const bytes = tokens * facts.hidden * RUN_DTYPE_BYTES[plan.dtype];
  const sums = (SUMS_PER_LAYER * facts.layers) / pipeline;
  const summing = tensor > 1 ? sums * ((bytes * 2 * (tensor - 1)) / tensor / bytesPerSecond + steps * latencySeconds) : 0;
  const handing = pipeline > 1 ? bytes / bytesPerSecond + steps * latencySeconds : 0;
  return summing + handing;
}

/** Weights that stay on the host cross the bus in every step. */
export function offloadSeconds({ plan, kind }: { plan: Pick<Plan, 'cpuOffloadBytes'>; kind: Pick<DeviceKind, 'loadBytesPerSecond'> }, steps: number): number {
  return (steps * (plan.cpuOffloadBytes ?? 0)) / kind.loadBytesPerSecond;
}
