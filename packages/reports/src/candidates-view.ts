// Every layout that was weighed: whether it fits, what it would take, and why it was not chosen; then all of the chosen one's
// memory, beside the rule of thumb. GiB is 2^30 bytes throughout.
import { formatBytes, GIB, type TimeEstimate } from '@assay/domain';
import { formatSeconds } from './format-numbers.ts';
import { type MemoryView, TERM_NAMES } from './memory-terms.ts';
import { renderTable } from './text-table.ts';

interface CandidateView {
  data: number;
  tensor: number;
  pipeline: number;
  verdict: 'fits' | 'tight' | 'too_large' | 'refused';
  isChosen: boolean;
  plan?: { maxNumSeqs: number; maxNumBatchedTokens: number; memoryLimitBytes: number };
  memory?: MemoryView;
  time?: TimeEstimate;
  lost?: string;
}

interface Units {
  /** What the figures are of: the kind of device. */
  device: string;
  /** Whole memory of one device, which the rule of thumb is held against; undefined on CPU. */
  deviceMemoryBytes?: number | undefined;
}

const VERDICTS: Readonly<Record<CandidateView['verdict'], string>> = { fits: 'fits', tight: 'tight', too_large: 'too large', refused: 'refused' };

const COLUMNS = [
  { title: '', align: 'left' }, { title: 'data', align: 'right' }, { title: 'tensor', align: 'right' }, { title: 'pipeline', align: 'right' }, { title: 'memory', align: 'left' },
  { title: 'GiB a rank', align: 'right' }, { title: 'of', align: 'right' }, { title: 'weights', align: 'right' }, { title: 'KV', align: 'right' }, { title: 'activations', align: 'right' }, { title: 'logits', align: 'right' },
  { title: 'batch', align: 'right' },
  { title: 'time', align: 'right' }, { title: 'load', align: 'right' }, { title: 'device-hours', align: 'right' }, { title: 'why not', align: 'left' },
] as const;

export function renderCandidates(candidates: readonly CandidateView[], units: Units): string {
  const chosen = candidates.find(({ isChosen }) => isChosen);
  return [
    `candidates on ${units.device}: GiB of each rank, tokens/sequences of a step, predicted time from start to last result`,
    renderTable(COLUMNS, candidates.map(renderRow)),
    ...(chosen?.memory && chosen.plan ? ['', ...renderChosen(chosen.memory, chosen.plan.memoryLimitBytes, { ...units, ranks: chosen.tensor * chosen.pipeline })] : []),
  ].join('\n');
}

function renderRow({ isChosen, data, tensor, pipeline, verdict, plan, memory, time, lost }: CandidateView): string[] {
  const layout = [isChosen ? '*' : '', String(data), String(tensor), String(pipeline), VERDICTS[verdict]];
  if (!plan || !memory) return [...layout, ...Array.from({ length: COLUMNS.length - layout.length - 1 }, () => ''), lost ?? ''];
  const sizes = [gib(memory.totalBytes), gib(plan.memoryLimitBytes), ...renderTerms(memory), `${plan.maxNumBatchedTokens}/${plan.maxNumSeqs}`];
  // The time of what cannot run says nothing.
  const times = time && verdict !== 'too_large' ? [formatSeconds(time.wallSeconds), formatSeconds(time.loadSeconds), time.deviceHours.toFixed(2)] : ['', '', ''];
  return [...layout, ...sizes, ...times, isChosen ? 'chosen' : (lost ?? '')];
}

/** The terms in which layouts differ; of the two kinds of logits the larger, which alone is part of the sum. */
function renderTerms({ terms: { weights = 0, kv = 0, activation = 0, logits = 0, promptLogprobs = 0 } }: MemoryView): string[] {
  return [weights, kv, activation, Math.max(logits, promptLogprobs)].map(gib);
}

const gib = (bytes: number): string => (bytes / GIB).toFixed(1);

function renderChosen({ terms, totalBytes, residualBytes, ruleOfThumbBytes }: MemoryView, limitBytes: number, { ranks, deviceMemoryBytes }: Units & { ranks: number }): string[] {
  const learned = residualBytes === 0 ? [] : [['learned from earlier runs', gib(residualBytes)]];
  const rows = [...Object.entries(terms).map(([name, bytes]) => [TERM_NAMES[name] ?? name, gib(bytes)]), ...learned, ['together (of the two kinds of logits the larger)', gib(totalBytes)], ['limit', gib(limitBytes)]];
  const share = ruleOfThumbBytes / ranks;
  const verdict = deviceMemoryBytes === undefined ? '' : `, which ${share <= deviceMemoryBytes ? 'would fit' : 'would not fit'} the ${formatBytes(deviceMemoryBytes)} of a device`;
  return [
    renderTable([{ title: 'memory of one rank', align: 'left' }, { title: 'GiB', align: 'right' }], rows),
    `rule of thumb (parameters × bytes × 110 %): ${gigabytes(share)} GB = ${gib(share)} GiB a rank${verdict}`,
  ];
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);
