// What a rung is to achieve: the table of failures says which kind, a failure itself which term of the memory model.
import { formatBytes } from '@assay/domain';
import { FAILURE_CLASSES, type Failure } from '@assay/protocol';
import { kvCacheTokens, type Plan } from './plan.ts';

/** A term to lower, more tokens in the KV cache, or less that the engine asks for before it starts. */
export type Aim = NonNullable<Failure['where']> | 'cache_room' | 'start_share';

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
  cache_room: (plan) => -kvCacheTokens(plan),
  // An engine on CPU asks for its cache, one on a GPU for its share of it.
  start_share: ({ device, kvCacheBytes, memoryLimitBytes }) => (device === 'cpu' ? kvCacheBytes : memoryLimitBytes),
};

/** Of the aims that are no term. */
const REASONS: Partial<Record<Aim, string>> = { cache_room: 'too little KV cache', start_share: 'too little free memory at the start' };

/** Undefined where it is not known what failed. */
export function findAim({ class: failureClass = 'oom', where }: Partial<Pick<Failure, 'class' | 'where'>>): Aim | undefined {
  const { rung } = FAILURE_CLASSES[failureClass];
  return rung === 'term' || rung === false ? where : rung;
}

/** A smaller cache makes room for any term; without an aim the total counts. */
export function reaches(aim: Aim | undefined, { from, to }: Step): boolean {
  if (aim === undefined || (!REASONS[aim] && to.memory.terms.kv < from.memory.terms.kv)) return to.memory.totalBytes < from.memory.totalBytes;
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
    from.tensor !== to.tensor && `tensor ${from.tensor} → ${to.tensor}, data ${from.data} → ${to.data}`,
    from.pipeline !== to.pipeline && `pipeline ${from.pipeline} → ${to.pipeline}, data ${from.data} → ${to.data}`,
  ].filter((change) => change !== false);
  const reason = (aim && REASONS[aim]) ?? `out of memory${aim ? ` (${aim})` : ''}`;
  return `${reason}: ${name}, ${changes.join(', ')}`;
}
