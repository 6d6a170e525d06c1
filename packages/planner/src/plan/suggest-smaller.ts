// What would make a run fit that does not: the smallest change first, each one worked out and not guessed.
import { formatBytes } from '@assay/domain';
import type { Candidate } from './candidate.ts';
import { listCandidates } from './candidates.ts';
import { type PlanBasis, type PlanInput, readBasis } from './plan-draft.ts';
import type { Plan } from '../plan.ts';
import { nextRung } from './rungs.ts';
import { listChanges } from './smaller-changes.ts';

const OTHERWISE = 'Use fewer replicas, a smaller or quantised model, a lower max_model_len, or more memory.';
// A prediction that is closer than this to one that was shown to be wrong is no better than it.
const DOUBT = 0.97;

/** For a plan that is predicted not to fit. */
export function suggestSmaller(basis: PlanBasis, nearest: Candidate): string {
  const texts = findTexts(basis, ({ verdict }) => (verdict === 'tight' ? ', barely' : ''));
  return `${formatBytes(nearest.missingBytes ?? 0)} are missing. ${texts ? `It would fit ${texts}.` : OTHERWISE}`;
}

/**
 * For plans that did not fit although they were predicted to, and no rung is left: their predictions are too low by an amount that
 * is not known, so a change counts where it leaves more of the limit free than any of them was to leave.
 */
export function suggestAfterFailure(input: PlanInput, tried: readonly Plan[]): string {
  const shown = Math.min(1, ...tried.map(shareOfLimit));
  const texts = findTexts(readBasis(input), ({ plan }) => (plan && shareOfLimit(smallestOf(plan)) < DOUBT * shown ? '' : undefined));
  return texts ? `It would probably fit ${texts}.` : OTHERWISE;
}

/** At most two, since people choose between machines and precision. `judge`: what to add to a change, undefined where it does not help. */
function findTexts(basis: PlanBasis, judge: (chosen: Candidate) => string | undefined): string | undefined {
  const changes = listChanges(basis);
  const texts = [false, true].flatMap((isPrecision) => {
    for (const change of changes.filter((each) => (each.isPrecision ?? false) === isPrecision)) {
      const changed = change.apply(basis);
      const chosen = changed && listCandidates(changed).find(({ isChosen }) => isChosen);
      const remark = chosen && judge(chosen);
      if (remark !== undefined) return [`${change.text}${remark}`];
    }
    return [];
  });
  return texts.length > 0 ? texts.join(', or ') : undefined;
}

function shareOfLimit({ memory, memoryLimitBytes }: Plan): number {
  return memory.totalBytes / memoryLimitBytes;
}

/** The last of its rungs: what a probe would come down to. */
function smallestOf(plan: Plan): Plan {
  const tried = [plan];
  for (let next = nextRung(plan, {}, tried); next !== undefined; next = nextRung(next, {}, tried)) tried.push(next);
  return tried.at(-1) as Plan;
}
