// The probe's verdict: every plan that was tried, and the peak that was predicted beside the one that was measured.
import { formatBytes } from '@assay/domain';
import { formatSeconds } from './format-numbers.ts';

interface ProbeView {
  rungs: readonly {
    verdict: 'fits' | 'oom' | 'failed' | 'skipped';
    seconds: number;
    predictedBytes: number;
    measuredBytes?: number | undefined;
    failure?: { message: string; where?: string | undefined } | undefined;
    /** The replica whose failure it is. */
    failed?: { name: string } | undefined;
    plan: { data: number; maxNumSeqs: number; maxNumBatchedTokens: number; memoryLimitBytes: number; why: readonly string[] };
  }[];
  seconds: number;
}

type RungView = ProbeView['rungs'][number];

const VERDICTS: Readonly<Record<RungView['verdict'], (rung: RungView) => string>> = {
  fits: (rung) => `fits: peak memory ${comparePeaks(rung)}`,
  oom: ({ failure, ...rung }) => `out of memory${nameFailed(rung)}${failure?.where ? ` (${failure.where})` : ''}${failure ? `: ${firstLine(failure.message)}` : ''}`,
  failed: ({ failure, ...rung }) => `failed${nameFailed(rung)}${failure ? `: ${firstLine(failure.message)}` : ''}`,
  skipped: (rung) => `not run (probe: false); peak memory while loading ${comparePeaks(rung)}`,
};

/** One line a plan tried, the last one's verdict last. */
export function renderProbe({ rungs, seconds }: ProbeView): string {
  const lines = rungs.map((rung, place) => {
    const step = place === 0 ? '' : `${rung.plan.why.at(-1) ?? `rung ${place}`}; `;
    return `${place === 0 ? 'probe  ' : '       '} ${step}${VERDICTS[rung.verdict](rung)}`;
  });
  return [...lines.slice(0, -1), `${lines.at(-1) ?? 'probe   nothing was tried'} (${formatSeconds(seconds)})`].join('\n');
}

/** One of several: which one, and where it lay. */
function nameFailed({ failed, plan }: Pick<RungView, 'failed' | 'plan'>): string {
  return failed && plan.data > 1 ? ` in ${failed.name}` : '';
}

function comparePeaks({ predictedBytes, measuredBytes }: RungView): string {
  if (measuredBytes === undefined || measuredBytes === 0) return `not measured, ${formatBytes(predictedBytes)} predicted`;
  const error = predictedBytes / measuredBytes - 1;
  const sign = error >= 0 ? '+' : '-';
  return `${formatBytes(measuredBytes)} measured, ${formatBytes(predictedBytes)} predicted (${sign}${Math.abs(error * 100).toFixed(0)} %)`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, 200);
}
