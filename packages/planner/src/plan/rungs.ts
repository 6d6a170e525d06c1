// The next smaller neighbour of a plan that failed for want of memory. Invariant: never a plan that was tried, and never one that
// leaves what failed as it was. A rung moves work and memory about; type, quantisation and offload stay as the user chose them.
import { MIB } from '@assay/domain';
import { FAILURE_CLASSES, type Failure } from '@assay/protocol';
import { estimateMemory } from '../memory/memory.ts';
import { MIN_BATCHED_TOKENS } from './plan-batch.ts';
import { isSamePlan, type Plan } from '../plan.ts';
import { NO_ROOM, regroup } from './regroup.ts';
import { type Aim, describeRung, findAim, reaches } from './rung-aims.ts';

interface Rung {
  name: string;
  /** What this rung can do. */
  helps: readonly Aim[];
  /** The plan one step down, or undefined at the end of this rung. */
  step(plan: Plan): Partial<Plan> | undefined;
}

/** In the order in which they are tried: the cheapest for speed and for the results first. */
const RUNGS: readonly Rung[] = [
  { name: 'a larger KV cache', helps: ['cache_room'], step: growCache },
  { name: 'fewer batched tokens', helps: ['activation', 'logits'], step: halveTokens },
  { name: 'fewer batched tokens for a larger KV cache', helps: ['cache_room'], step: turnTokensIntoCache },
  { name: 'fewer sequences', helps: ['logits', 'activation', 'graph'], step: halveSequences },
  { name: 'no compiled graphs', helps: ['graph'], step: (plan) => (plan.enforceEager || plan.device === 'cpu' ? undefined : { enforceEager: true }) },
  { name: 'a smaller share of the device', helps: ['start_share'], step: shrinkShare },
  { name: 'a smaller KV cache', helps: ['kv', 'activation', 'logits', 'graph', 'start_share'], step: shrinkCache },
  { name: 'twice the tensor ranks', helps: ['weights', 'kv', 'activation', 'logits', 'graph', 'cache_room'], step: doubleTensor },
  { name: 'more pipeline stages', helps: ['weights', 'kv', 'cache_room'], step: addStages },
];

/** The next plan to try after `failure`, or undefined where none is left. `tried`: every plan that failed, `plan` among them or not. */
export function nextRung(plan: Plan, failure: Partial<Pick<Failure, 'class' | 'where'>>, tried: readonly Plan[]): Plan | undefined {
  if (!FAILURE_CLASSES[failure.class ?? 'oom'].rung) return undefined;
  const aim = findAim(failure);
  for (const rung of RUNGS) {
    if (aim !== undefined && !rung.helps.includes(aim)) continue;
    // What is not known to lack memory is not given more of it.
    if (aim === undefined && rung.helps.every((help) => help === 'cache_room' || help === 'start_share')) continue;
    const next = descend(rung, plan, aim, [...tried, plan]);
    if (next) return next;
  }
  return undefined;
}

/** Goes down one rung as far as it takes to reach the aim: half of a limit that was not reached lowers nothing. */
function descend(rung: Rung, plan: Plan, aim: Aim | undefined, failed: readonly Plan[]): Plan | undefined {
  let current = plan;
  for (let change = rung.step(current); change !== undefined; change = rung.step(current)) {
    current = estimateAnew({ ...current, ...change });
    const isNew = !failed.some((other) => isSamePlan(other, current));
    if (isNew && reaches(aim, { from: plan, to: current })) return { ...current, why: [...plan.why, describeRung(rung.name, aim, { from: plan, to: current })] };
  }
  return undefined;
}

function estimateAnew(plan: Plan): Plan {
  const { facts, workload, memory } = plan;
  return { ...plan, memory: estimateMemory({ facts, plan, workload, kind: memory.kind, residuals: memory.residuals }) };
}

function halveTokens(plan: Plan): Partial<Plan> | undefined {
  const maxNumBatchedTokens = Math.floor(plan.maxNumBatchedTokens / 2);
  // Fewer tokens than sequences is refused by the engine; fewer sequences is the next rung's business.
  return maxNumBatchedTokens >= Math.max(MIN_BATCHED_TOKENS, plan.maxNumSeqs) ? { maxNumBatchedTokens } : undefined;
}

function halveSequences(plan: Plan): Partial<Plan> | undefined {
  return plan.maxNumSeqs > 1 ? { maxNumSeqs: Math.floor(plan.maxNumSeqs / 2) } : undefined;
}

function shrinkCache(plan: Plan): Partial<Plan> | undefined {
  const kvCacheBytes = Math.max(plan.minKvCacheBytes, Math.ceil(plan.kvCacheBytes / 2));
  // The engine would take all that it finds; from here on it is told.
  return kvCacheBytes < plan.kvCacheBytes ? { kvCacheBytes, ...(plan.isCacheLeftToEngine ? { isCacheLeftToEngine: false } : {}) } : undefined;
}

/** As much as the limit leaves, and at most twice of what it was. */
function growCache(plan: Plan): Partial<Plan> | undefined {
  const room = Math.max(0, plan.memoryLimitBytes - plan.memory.totalBytes);
  const added = Math.floor(Math.min(plan.kvCacheBytes, room) / MIB) * MIB;
  return added > 0 ? { kvCacheBytes: plan.kvCacheBytes + added } : undefined;
}

function turnTokensIntoCache(plan: Plan): Partial<Plan> | undefined {
  const fewer = halveTokens(plan);
  return fewer && { ...fewer, ...growCache(estimateAnew({ ...plan, ...fewer })) };
}

// Below this share of its limit, what a plan does not use of it is not worth another start.
const WORTH_A_START = 0.05;

/** GPUs only: the engine does not start where less than its share is free. Half of what the plan does not use, then all of it. */
function shrinkShare({ device, memoryLimitBytes, memory: { totalBytes }, isCacheLeftToEngine, kvCacheBytes }: Plan): Partial<Plan> | undefined {
  if (isCacheLeftToEngine) {
    // Its cache fills whatever share it is told, so the cache is what can be asked for less.
    const given = Math.floor(kvCacheBytes / 2);
    return given > WORTH_A_START * memoryLimitBytes ? { memoryLimitBytes: memoryLimitBytes - given, kvCacheBytes: kvCacheBytes - given } : undefined;
  }
  const unused = memoryLimitBytes - totalBytes;
  if (device === 'cpu' || unused <= 0) return undefined;
  return { memoryLimitBytes: unused > WORTH_A_START * memoryLimitBytes ? Math.ceil(memoryLimitBytes - unused / 2) : totalBytes };
}

function doubleTensor(plan: Plan): Partial<Plan> | undefined {
  const tensor = plan.tensor * 2;
  const layout = plan.tensorSizes.includes(tensor) ? regroup(plan, tensor * plan.pipeline) : undefined;
  return layout && { tensor, ...layout };
}

/** Twice as many, or what there are devices for: any number of stages divides a model. */
function addStages(plan: Plan): Partial<Plan> | undefined {
  const { data, tensor, rungRoom = NO_ROOM } = plan;
  const most = Math.min(rungRoom.maxPipeline, Math.floor(rungRoom.deviceIds.length / tensor / (rungRoom.keepsData ? data : 1)));
  const pipeline = Math.min(plan.pipeline * 2, most);
  const layout = pipeline > plan.pipeline ? regroup(plan, tensor * pipeline) : undefined;
  return layout && { pipeline, ...layout };
}
