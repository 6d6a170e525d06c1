// Every layout of a model over the devices, worked out and ranked, with one sentence why each but the best lost. Invariant: a layout
// is compared by its speed at full load, never by how few requests a run has, since the layout decides the bits of the results.
import { AssayError } from '@assay/domain';
import type { Candidate } from './candidate.ts';
import { deviceKindOf } from '../node/device-kinds.ts';
import { requireDivisible } from '../model/divisibility.ts';
import { estimateTime, type LayoutTime } from '../time/estimate-time.ts';
import { explainLoss } from './explain-loss.ts';
import { limitReplicas, mostReplicas } from '../limit-replicas.ts';
import { countCores } from '../node/node-facts.ts';
import { layOutCores, type Layout } from './plan-devices.ts';
import { fitLayout, placeLayout, type PlanBasis } from './plan-draft.ts';
import type { Plan } from '../plan.ts';

/** All sizes up to this; beyond it powers of two. */
const EVERY_SIZE_TO = 8;

/** The chosen one first, if any may be taken; then by time, and last those that cannot be taken. */
export function listCandidates(basis: PlanBasis): Candidate[] {
  const ranked = listLayouts(basis).map((layout) => tryLayout(basis, layout)).toSorted((a, b) => compare(a, b, basis));
  const winner = pickWinner(ranked, basis);
  const judged = ranked.toSorted((a, b) => Number(b === winner) - Number(a === winner)).map((candidate) => {
    const isChosen = candidate === winner;
    return limitCandidate(basis, { ...candidate, isChosen, ...(isChosen ? {} : { lost: candidate.lost ?? explainLoss(candidate, winner) }) });
  });
  return dropTwins(judged);
}

/** Compared by its speed with all its replicas, taken with as many as have requests. */
function limitCandidate(basis: PlanBasis, candidate: Candidate): Candidate {
  const requests = basis.workload.requests;
  if (!candidate.plan || !candidate.time) return { ...candidate, data: mostReplicas(candidate.data, requests) };
  const plan = limitReplicas(candidate.plan, requests);
  if (plan === candidate.plan) return candidate;
  return { ...candidate, data: plan.data, plan, time: { ...predictTime(basis, plan), fullLoadSeconds: candidate.time.fullLoadSeconds } };
}

/** The first of those that are the same. */
function dropTwins<Kind extends Layout>(layouts: readonly Kind[]): Kind[] {
  return layouts.filter((layout, place) => layouts.findIndex((other) => isSameLayout(other, layout)) === place);
}

// The fewest ranks that fit are taken, one above all, unless more of them are predicted to be faster by more than a prediction
// may be wrong: a model that fits one device runs as replicas.
const DOUBT = { ofReplicas: 2, ofSplits: 1.5 } as const;

function pickWinner(ranked: readonly Candidate[], basis: PlanBasis): Candidate | undefined {
  const takeable = ranked.filter(mayBeTaken);
  const usual = basis.device === 'cpu' ? takeable.find((candidate) => isUsual(candidate, basis)) : undefined;
  const [best] = takeable;
  if (usual || !best?.time) return usual ?? best;
  const equals = takeable.filter(({ verdict }) => verdict === best.verdict);
  const within = (factor: number) => equals.filter(({ time }) => time !== undefined && time.fullLoadSeconds <= factor * (best.time?.fullLoadSeconds ?? 0));
  const single = within(DOUBT.ofReplicas).find((candidate) => countRanks(candidate) === 1);
  return single ?? within(DOUBT.ofSplits).reduce((least, candidate) => (countRanks(candidate) < countRanks(least) ? candidate : least), best);
}

/** Engines on cores start before the requests are known, so the usual layout is left only where it cannot be taken. */
function isUsual(candidate: Candidate, { input: { node, determinism }, facts, wishes }: PlanBasis): boolean {
  return isSameLayout(candidate, layOutCores({ node, facts, wishes, determinism }));
}

function listLayouts(basis: PlanBasis): Layout[] {
  const { input: { node }, device, wishes } = basis;
  if (device === 'cpu') return listOnCores(basis);
  const devices = node.gpus.length;
  const layouts = listSizes(devices, wishes.tensor).flatMap((tensor) => listSizes(Math.max(1, Math.floor(devices / tensor)), wishes.pipeline)
    .map((pipeline) => ({ data: wishes.data ?? Math.max(1, Math.floor(devices / (tensor * pipeline))), tensor, pipeline })));
  const possible = layouts.filter(({ data, tensor, pipeline }) => data * tensor * pipeline <= devices);
  // More than there are devices was asked for: the refusal says so.
  return possible.length > 0 ? possible : layouts.slice(0, 1);
}

function listSizes(most: number, wished: number | undefined): number[] {
  if (wished !== undefined) return [wished];
  return Array.from({ length: most }, (_, index) => index + 1).filter((size) => size <= EVERY_SIZE_TO || Number.isInteger(Math.log2(size)));
}

/** On cores the first is the one that is taken wherever it fits; the others are what may be asked for instead. */
function listOnCores({ input: { node, determinism }, facts, wishes }: PlanBasis): Layout[] {
  const usual = layOutCores({ node, facts, wishes, determinism });
  const cores = countCores(node);
  const others = [
    ...[1, 2, 4, cores].filter((data) => data <= cores).map((data) => ({ data, tensor: 1, pipeline: 1 })),
    ...listSizes(cores, undefined).slice(1).map((tensor) => ({ data: 1, tensor, pipeline: 1 })),
    ...(cores > 1 ? [{ data: 1, tensor: 1, pipeline: 2 }] : []),
  ];
  const all = [{ data: usual.data, tensor: usual.tensor, pipeline: usual.pipeline }, ...others].filter((layout) =>
    (['data', 'tensor', 'pipeline'] as const).every((size) => wishes[size] === undefined || layout[size] === wishes[size]));
  return dropTwins(all);
}

function isSameLayout(a: Layout, b: Layout): boolean {
  return a.data === b.data && a.tensor === b.tensor && a.pipeline === b.pipeline;
}

function tryLayout(basis: PlanBasis, layout: Layout): Candidate {
  const { facts, input: { node, determinism }, device, wishes } = basis;
  try {
    requireDivisible(facts, layout);
    const usual = device === 'cpu' ? layOutCores({ node, facts, wishes, determinism }) : undefined;
    const { plan, verdict, missingBytes } = fitLayout(basis, usual && isSameLayout(usual, layout) ? usual : placeLayout(basis, layout));
    return { ...layout, verdict, isChosen: false, plan, memory: plan.memory, missingBytes, time: predictTime(basis, plan) };
  } catch (thrown) {
    if (!(thrown instanceof AssayError) || thrown.code !== 'PLAN_IMPOSSIBLE') throw thrown;
    return { ...layout, verdict: 'refused', isChosen: false, lost: `${String(thrown.details['problem'])}. ${String(thrown.details['instead'])}` };
  }
}

/** As earlier runs have shown answers and speeds, but for the time that layouts are compared by. */
function predictTime({ facts, expectedWorkload, input: { node, correctionsOf } }: PlanBasis, plan: Plan): LayoutTime {
  const kind = deviceKindOf(node);
  const { fullLoadSeconds } = estimateTime({ facts, plan, kind });
  return { ...estimateTime({ facts, plan: { ...plan, workload: expectedWorkload }, kind, corrections: correctionsOf?.(plan) }), fullLoadSeconds };
}

const mayBeTaken = ({ verdict }: Candidate): boolean => verdict === 'fits' || verdict === 'tight';

const RANKS: Readonly<Record<Candidate['verdict'], number>> = { fits: 0, tight: 1, too_large: 2, refused: 3 };

function compare(a: Candidate, b: Candidate, basis: PlanBasis): number {
  if (a.verdict !== b.verdict) return RANKS[a.verdict] - RANKS[b.verdict];
  const simpler = countRanks(a) - countRanks(b) || a.pipeline - b.pipeline || b.data - a.data;
  if (!mayBeTaken(a)) return missingOnNode(a, basis) - missingOnNode(b, basis) || simpler;
  return (a.time?.fullLoadSeconds ?? 0) - (b.time?.fullLoadSeconds ?? 0) || simpler;
}

/** Ranks on cores share one memory. */
function missingOnNode({ missingBytes = 0, data, tensor, pipeline }: Candidate, { device }: PlanBasis): number {
  return missingBytes * (device === 'cpu' ? data * tensor * pipeline : 1);
}

function countRanks({ tensor, pipeline }: Layout): number {
  return tensor * pipeline;
}
