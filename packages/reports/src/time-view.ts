// The predicted time of a plan by its parts, and what the prediction rests on.
import type { TimeBound, TimeEstimate } from '@assay/domain';
import { formatSeconds } from './format-numbers.ts';

/** "start 11 s + load 4 s + prompts 25 s (bound by operations) + answers 2 s, of which 1 s between ranks". */
export function describeParts({ startSeconds, loadSeconds, prefillSeconds, decodeSeconds, communicationSeconds, bound }: TimeEstimate): string {
  const parts = [
    `start ${formatSeconds(startSeconds)}`, `load ${formatSeconds(loadSeconds)}`,
    `prompts ${formatSeconds(prefillSeconds)}${describeBound(bound.prefill)}`, `answers ${formatSeconds(decodeSeconds)}${describeBound(bound.decode)}`,
  ];
  return `${parts.join(' + ')}${communicationSeconds >= 0.5 ? `, of which ${formatSeconds(communicationSeconds)} between ranks` : ''}`;
}

export function describeBasis({ correctedBy }: Pick<TimeEstimate, 'correctedBy'>): string {
  if (correctedBy === 0) return 'an estimate: docs/planning.md says from what';
  return `corrected by ${correctedBy} earlier ${correctedBy === 1 ? 'run' : 'runs'}`;
}

function describeBound(bound: TimeBound): string {
  return bound === 'none' ? '' : ` (bound by ${bound === 'compute' ? 'operations' : 'memory bandwidth'})`;
}
