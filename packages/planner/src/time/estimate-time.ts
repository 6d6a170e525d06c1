// How long a layout takes from its processes to its last result, and for how long its devices are held: the roofline's parts, each
// corrected by a factor measured before. Formulas and constants are explained in docs/planning.md.
import type { TimeEstimate } from '@assay/domain';
import type { Plan } from '../plan.ts';
import { estimateDecode, estimatePrefill, type Phase, type RooflineInput } from './roofline.ts';
import { estimateStart } from './start-time.ts';

export const TIMED_PARTS = ['start', 'load', 'prefill', 'decode'] as const;
export type TimedPart = (typeof TIMED_PARTS)[number];

/** Measured seconds over predicted ones, by part, 1 where nothing was measured; and of how many runs. */
export type TimeCorrections = Readonly<Partial<Record<TimedPart | 'runs', number>>>;

/** An estimate with what layouts are compared by. */
export interface LayoutTime extends TimeEstimate {
  /**
   * Prefill and decode of this work if there were enough of it to keep every replica full: what layouts are compared by, and
   * therefore without corrections. Which layout a run gets may not depend on what the machine has run before.
   */
  fullLoadSeconds: number;
}

interface TimeInput extends RooflineInput {
  corrections?: TimeCorrections | undefined;
}

export function estimateTime(input: TimeInput): LayoutTime {
  const { plan, kind, corrections = {} } = input;
  const prefill = scale(estimatePrefill(input, { isFull: false }), corrections.prefill);
  const decode = scale(estimateDecode(input, { isFull: false }), corrections.decode);
  const fullLoadSeconds = estimatePrefill(input, { isFull: true }).seconds + estimateDecode(input, { isFull: true }).seconds;
  const { startSeconds, loadSeconds } = estimateStart({ plan, kind, corrections });
  const wallSeconds = startSeconds + loadSeconds + prefill.seconds + decode.seconds;
  return {
    startSeconds, loadSeconds, wallSeconds, fullLoadSeconds,
    correctedBy: corrections.runs ?? 0,
    prefillSeconds: prefill.seconds,
    decodeSeconds: decode.seconds,
    communicationSeconds: prefill.communicationSeconds + decode.communicationSeconds,
    deviceHours: (wallSeconds * countDevices(plan)) / 3600,
    bound: { prefill: prefill.bound, decode: decode.bound },
  };
}

function scale(phase: Phase, factor = 1): Phase {
  return { ...phase, seconds: phase.seconds * factor, communicationSeconds: phase.communicationSeconds * factor };
}

function countDevices({ device, data, tensor, pipeline, threadsPerWorker }: Plan): number {
  return data * tensor * pipeline * (device === 'cpu' ? threadsPerWorker : 1);
}
