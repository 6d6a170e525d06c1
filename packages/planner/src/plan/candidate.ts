// One layout that was weighed: whether it fits, what it would take, and why it was not chosen.
import type { LayoutTime } from '../time/estimate-time.ts';
import type { MemoryEstimate } from '../memory/memory.ts';
import type { Layout } from './plan-devices.ts';
import type { Fit } from './plan-memory.ts';
import type { Plan } from '../plan.ts';

export interface Candidate extends Layout {
  /** tight: predicted beyond the limit by so little that the probe decides; refused: the shape or the device forbids it. */
  verdict: Fit['verdict'] | 'refused';
  isChosen: boolean;
  /** Batch limits, memory and the rest; absent where the layout is refused. */
  plan?: Plan;
  memory?: MemoryEstimate;
  missingBytes?: number;
  time?: LayoutTime;
  /** Why it was not chosen, in one sentence. */
  lost?: string;
}
