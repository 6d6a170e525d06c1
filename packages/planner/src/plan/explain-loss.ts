// One sentence why a layout was not chosen: what it lacks, or by how much and by what it is slower than the one that was.
import { formatBytes } from '@assay/domain';
import type { Candidate } from './candidate.ts';
import type { LayoutTime } from '../time/estimate-time.ts';
import type { MemoryEstimate } from '../memory/memory.ts';
import { type Plan, sequencesHeld } from '../plan.ts';

const TERM_NAMES: Readonly<Record<keyof MemoryEstimate['terms'], string>> = {
  weights: 'the weights', kv: 'the KV cache', activation: 'activations', logits: 'logits', promptLogprobs: 'prompt log-probabilities', graphs: 'graphs', context: 'the engine itself',
};

export function explainLoss(candidate: Candidate, winner: Candidate | undefined): string {
  const { plan, verdict } = candidate;
  if (!plan) return 'cannot be run.';
  if (verdict === 'too_large') return explainSize(plan, candidate.missingBytes ?? 0);
  if (verdict === 'tight' && winner?.verdict === 'fits') return `is predicted ${formatBytes(candidate.missingBytes ?? 0)} beyond the limit, where another layout fits.`;
  return winner?.plan && winner.time && candidate.time ? explainTime({ plan, time: candidate.time }, { plan: winner.plan, time: winner.time }) : 'was not needed.';
}

/** The largest terms, and what is missing. */
function explainSize({ memory: { terms }, memoryLimitBytes, minKvCacheBytes }: Plan, missingBytes: number): string {
  const needed = { weights: terms.weights, kv: minKvCacheBytes, context: terms.context };
  const [name, bytes] = Object.entries(needed).toSorted((a, b) => b[1] - a[1])[0]!;
  const least = Object.values(needed).reduce((sum, term) => sum + term, 0);
  const leastText = name === 'kv' ? ' for one request of the whole window' : '';
  return `does not fit: ${TERM_NAMES[name as keyof typeof needed]}${leastText} ${name === 'weights' ? 'take' : 'takes'} ${formatBytes(bytes)} of the ${formatBytes(memoryLimitBytes)} of each rank, ${formatBytes(least)} with ${name === 'weights' ? 'the engine and the smallest KV cache' : 'weights and engine'}; ${formatBytes(missingBytes)} are missing.`;
}

interface Timed {
  plan: Plan;
  time: LayoutTime;
}

function explainTime(loser: Timed, winner: Timed): string {
  const [slower, faster] = [loser.time.fullLoadSeconds, winner.time.fullLoadSeconds];
  const share = faster > 0 ? slower / faster - 1 : 0;
  const reason = findReason(loser, winner);
  if (share < -0.005) return `is predicted ${percent(-share)} faster at full load, yet is taken only when asked for: ${explainPreference(loser.plan, winner.plan)}.`;
  if (share < 0.02) return `is no faster: ${reason}.`;
  return `${share >= 1 ? `takes ${(1 + share).toFixed(1)} times as long` : `is ${percent(share)} slower`} at full load: ${reason}.`;
}

function explainPreference({ device }: Plan, winner: Plan): string {
  if (device === 'cpu') return 'engines on CPU start before the requests are known';
  return countRanks(winner) === 1 ? 'a model that fits one device runs as replicas, whose sums no split changes' : 'the fewest ranks that fit are taken unless more are half as fast again';
}

const percent = (share: number): string => `${Math.max(1, Math.round(share * 100))} %`;

/** What differs most between the two. */
function findReason(loser: Timed, winner: Timed): string {
  const [ranks, others] = [countRanks(loser.plan), countRanks(winner.plan)];
  const [used, usedByWinner] = [ranks * loser.plan.data, others * winner.plan.data];
  if (loser.plan.device === 'cpu') return explainOnCores(loser.plan, winner.plan);
  if (used < usedByWinner) return `it leaves ${usedByWinner - used} more of the devices idle`;
  const sent = loser.time.communicationSeconds - winner.time.communicationSeconds;
  const [cache, winnersCache] = [sequencesHeld(loser.plan), sequencesHeld(winner.plan)];
  if (ranks < others && cache < winnersCache) return `its KV cache has room for only ${cache} sequences at a time, the chosen layout's for ${winnersCache}`;
  if (others === 1) return `one replica a device does the same work without communication${sent >= 1 ? ` (${Math.round(sent)} s of it here)` : ''}`;
  if (loser.plan.pipeline > winner.plan.pipeline) return 'each stage reads its weights once for every part of the batch, so stages save no memory traffic in decoding';
  if (sent > 0) return `its ranks spend ${Math.round(sent)} s more on what they send each other`;
  return 'its devices are used less well';
}

function explainOnCores(loser: Plan, winner: Plan): string {
  if (loser.pipeline > 1) return 'stages on CPU must be compiled, and wait for each other';
  if (loser.tensor > 1) return 'ranks on the same cores add communication to the same work';
  if (loser.data > winner.data) return 'the same cores do the same work, and each further replica holds the weights once more';
  return 'it leaves cores idle';
}

function countRanks({ tensor, pipeline }: Plan): number {
  return tensor * pipeline;
}
