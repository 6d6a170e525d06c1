// What a rung is to achieve: the table of failures says which kind, a failure itself which term of the memory model.
import { formatBytes } from '@assay/domain';
import { FAILURE_CLASSES, type Failure } from '@assay/protocol';
import { kvCacheTokens, type Plan } from '../plan.ts';

type Term = NonNullable<Failure['where']>;

/** A term to lower, more tokens in the KV cache, or less that the engine asks for before it starts. */
export type Aim = Term | 'cache_room' | 'start_share';

interface Step {
  from: Plan;
  to: Plan;
}

/** Smaller is nearer to the aim. */
const MEASURES: Readonly<Record<Aim, (plan: Plan) => number>> = {
  weights: ({ memory }) => memory.terms.weights,
  kv: ({ memory }) => memory.terms.kv,
  activation: ({ memory }) => memory.terms.activation,
  logits: ({ memory: { terms } }) => Math.max(terms.logits, terms.promptLogprobs),
  graph: ({ memory }) => memory.terms.graphs,
  cache_room: lackOfCache,
  // An engine on CPU asks for its cache, one on a GPU for its share of it.
  start_share: ({ device, kvCacheBytes, memoryLimitBytes }) => (device === 'cpu' ? kvCacheBytes : memoryLimitBytes),
};

const isTerm = (aim: Aim): aim is Term => aim !== 'cache_room' && aim !== 'start_share';

const REASONS: Readonly<Record<Exclude<Aim, Term>, string>> = { cache_room: 'too little KV cache', start_share: 'too little free memory at the start' };

/** In tokens, or in bytes of all ranks where those of a token are not known; an engine that sizes its cache gives it what a step leaves. */
function lackOfCache(plan: Plan): number {
  if (plan.memory.kvBytesPerToken > 0) return -kvCacheTokens(plan);
  return (plan.isCacheLeftToEngine ? plan.maxNumBatchedTokens : 0) - plan.kvCacheBytes * plan.tensor * plan.pipeline;
}

/** Undefined where it is not known what failed. */
export function findAim({ class: failureClass = 'oom', where }: Partial<Pick<Failure, 'class' | 'where'>>): Aim | undefined {
  const { rung } = FAILURE_CLASSES[failureClass];
  return rung === 'cache_room' || rung === 'start_share' ? rung : where;
}

/** A smaller cache makes room for any term; without an aim the total counts. */
export function reaches(aim: Aim | undefined, { from, to }: Step): boolean {
  if (aim === undefined || (isTerm(aim) && to.memory.terms.kv < from.memory.terms.kv)) return to.memory.totalBytes < from.memory.totalBytes;
  return MEASURES[aim](to) < MEASURES[aim](from);
}

/** For plan.why: what failed, which rung, and what it changes. */
export function describeRung(name: string, aim: Aim | undefined, { from, to }: Step): string {
  const changes = [
    from.maxNumBatchedTokens !== to.maxNumBatchedTokens && `max_num_batched_tokens ${from.maxNumBatchedTokens} → ${to.maxNumBatchedTokens}`,
    from.maxNumSeqs !== to.maxNumSeqs && `max_num_seqs ${from.maxNumSeqs} → ${to.maxNumSeqs}`,
    from.kvCacheBytes !== to.kvCacheBytes && `KV cache ${formatBytes(from.kvCacheBytes)} → ${formatBytes(to.kvCacheBytes)}`,
    from.memoryLimitBytes !== to.memoryLimitBytes && `of each device ${formatBytes(from.memoryLimitBytes)} → ${formatBytes(to.memoryLimitBytes)}`,
    from.enforceEager !== to.enforceEager && 'eager',
    from.tensor !== to.tensor && `tensor ${from.tensor} → ${to.tensor}`,
    from.pipeline !== to.pipeline && `pipeline ${from.pipeline} → ${to.pipeline}`,
    from.data !== to.data && `data ${from.data} → ${to.data}`,
  ].filter((change) => change !== false);
  return `${describeAim(aim)}: ${name}, ${changes.join(', ')}`;
}

function describeAim(aim: Aim | undefined): string {
  if (aim === undefined) return 'out of memory';
  return isTerm(aim) ? `out of memory (${aim})` : REASONS[aim];
}
