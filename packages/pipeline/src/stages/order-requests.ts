// In which order the open requests are asked, and how they are cut into shards: for each start anew. Pure choices are the
// planner's; what was chosen is written down, so that a start can be followed row by row.
import { join } from 'node:path';
import { cutShards, digestOrder, kvCacheTokens, orderRequests, orderRule, type Shard } from '@assay/planner';
import { orderFile, writeFileAtomic } from '@assay/store';
import type { AnswerHistory } from '../experience/answer-history.ts';
import type { RunContext } from '../run-context.ts';
import type { PlannedRun } from './plan.ts';

export interface Dispatchable {
  /** Path in the run directory. */
  file: string;
  order: Uint32Array;
  shards: Shard[];
}

/** Orders and cuts the requests that have no final result. strict cuts all of them and drops the shards that are whole. */
export async function orderOpenRequests(context: RunContext, { plan, index, results, answers }: PlannedRun): Promise<Dispatchable> {
  const { config, determinism, events, epoch, run } = context;
  const isStrict = determinism === 'strict';
  const open = results.openRows(config.max_tries);
  const rows = isStrict ? undefined : open;
  const expected = expectAnswers(context, answers);
  const lengths = expected ? { expectedNewTokens: answers.readDescribed(expected) } : {};
  const order = orderRequests(index, { kvCacheTokens: kvCacheTokens(plan), ...lengths, ...(rows ? { rows } : {}) });
  const cut = cutShards(order, index, { workers: plan.data, determinism, ...lengths });
  const shards = isStrict ? cut.filter(({ begin, end }) => order.subarray(begin, end).some((row) => !results.isFinal(row))) : cut;
  const file = orderFile(epoch);
  await writeFileAtomic(join(run.dir, file), Buffer.from(order.buffer, order.byteOffset, order.byteLength));
  await events.append({ type: 'order_written', epoch, file, rule: orderRule, digest: digestOrder(order), rows: order.length, shards: shards.length, ...(expected ? { expectedNewTokens: expected } : {}) });
  return { file, order, shards };
}

/**
 * What stands for budgets in the order, by task name. A run that has begun keeps what it began with; where the order may touch the
 * bits of the results or is promised to be the same again, it is made of the requests alone.
 */
function expectAnswers({ determinism, events }: RunContext, answers: AnswerHistory): Record<string, number> | undefined {
  if (determinism !== 'fast') return undefined;
  const [first] = events.history.orders;
  return first ? first.expectedNewTokens : answers.describe();
}
