// The worst dummy step of a run per request kind: its longest request, as often as fills a batch. The engine worker adds one
// decode step at full width. With a preallocated KV cache the peak belongs to a step, so the probe takes seconds.
import { REQUEST_KINDS } from '@assay/domain';
import type { ProbeStep, RequestIndex } from '@assay/protocol';
import { GENERATE } from '../requests/request-lengths.ts';

interface BatchLimits {
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  maxModelLen: number;
}

interface LongestRequest {
  requests: number;
  contextTokens: number;
  continuationTokens: number;
  newTokenBudget: number;
}

/** One step for each kind that the run has. */
export function planProbeSteps(index: RequestIndex, limits: BatchLimits): ProbeStep[] {
  return findLongest(index).flatMap((longest, kind) => (longest.requests > 0 ? [buildStep(kind, longest, limits)] : []));
}

function buildStep(kind: number, longest: LongestRequest, limits: BatchLimits): ProbeStep {
  // The engine makes a token also for a request that is only scored.
  const newTokens = kind === GENERATE ? Math.min(Math.max(1, longest.newTokenBudget), limits.maxModelLen - 1) : 1;
  const room = limits.maxModelLen - newTokens;
  const continuationTokens = Math.min(longest.continuationTokens, room - 1);
  const contextTokens = Math.max(1, Math.min(longest.contextTokens, room - continuationTokens));
  const tokens = contextTokens + continuationTokens + (kind === GENERATE ? newTokens : 0);
  const fill = Math.ceil(limits.maxNumBatchedTokens / tokens);
  const sequences = Math.max(1, Math.min(fill, limits.maxNumSeqs, longest.requests));
  return { kind: REQUEST_KINDS[kind]!, contextTokens, continuationTokens, newTokens, sequences };
}

/** Of each kind, the request that is longest with its budget. */
function findLongest(index: RequestIndex): LongestRequest[] {
  const { kind, contextTokens, continuationTokens, newTokenBudget } = index.columns;
  const found: LongestRequest[] = REQUEST_KINDS.map(() => ({ requests: 0, contextTokens: 0, continuationTokens: 0, newTokenBudget: 0 }));
  for (let row = 0; row < index.count; row += 1) {
    const best = found[kind[row]!]!;
    const tokens = contextTokens[row]! + continuationTokens[row]! + newTokenBudget[row]!;
    best.requests += 1;
    if (tokens <= best.contextTokens + best.continuationTokens + best.newTokenBudget) continue;
    best.contextTokens = contextTokens[row]!;
    best.continuationTokens = continuationTokens[row]!;
    best.newTokenBudget = newTokenBudget[row]!;
  }
  return found;
}
