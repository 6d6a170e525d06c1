// How long an engine takes from its process to its first answer: imports, then weights, compilation, cache and graphs.
import type { DeviceKind } from '../node/device-kinds.ts';
import type { Plan } from '../plan.ts';

/** Imports, then the engine without weights: measured on CPU (compiled: the first time); a guess from reports for GPUs. */
const START_SECONDS = { cpu: 11, cuda: 15 } as const;
const BUILD_SECONDS = { cpu: { eager: 5, compiled: 80 }, cuda: { eager: 10, compiled: 45 } } as const;
// Weights come from one disk of the node, or its page cache. A guess.
const DISK_BYTES_PER_SECOND = 2e9;

interface StartInput {
  plan: Plan;
  kind: DeviceKind;
  /** Measured seconds over predicted ones. */
  corrections: { readonly start?: number; readonly load?: number };
}

interface StartTime {
  /** Processes and imports. */
  startSeconds: number;
  /** Until the engine answers. */
  loadSeconds: number;
}

export function estimateStart({ plan, kind, corrections }: StartInput): StartTime {
  const { weights } = plan.memory.terms;
  const buildSeconds = BUILD_SECONDS[plan.device][plan.enforceEager ? 'eager' : 'compiled'];
  const modelBytes = weights * plan.tensor * plan.pipeline;
  return {
    startSeconds: START_SECONDS[plan.device] * (corrections.start ?? 1),
    loadSeconds: (buildSeconds + modelBytes / DISK_BYTES_PER_SECOND + weights / kind.loadBytesPerSecond) * (corrections.load ?? 1),
  };
}
