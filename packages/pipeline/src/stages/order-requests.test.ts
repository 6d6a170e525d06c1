// What earlier runs' answers may do to the order: in `fast` only, and only in a way that the record shows.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Determinism, REQUEST_KINDS } from '@assay/domain';
import { INDEX_COLUMNS, type RequestIndex } from '@assay/protocol';
import { ResultLedger } from '@assay/store';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { AnswerHistory } from '../experience/answer-history.ts';
import { orderOpenRequests } from './order-requests.ts';

type Context = Parameters<typeof orderOpenRequests>[0];
type Planned = Parameters<typeof orderOpenRequests>[1];

// Two tasks: budgets say that the first one's requests are the longer ones, history says the contrary.
const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(4)])) as RequestIndex['columns'];
columns.kind.fill(REQUEST_KINDS.indexOf('generate_until'));
columns.contextTokens.set([10, 10, 20, 20]);
columns.newTokenBudget.set([100, 100, 50, 50]);
columns.task.set([0, 0, 1, 1]);
columns.prefixGroup.set([1, 2, 3, 4]);
const index: RequestIndex = { count: 4, tokenOffset: new BigUint64Array(4), columns };

function learned() {
  const rendered = { tasks: [{ task: 'first' }, { task: 'second' }], chatTemplateDigest: null } as unknown as ConstructorParameters<typeof AnswerHistory>[0];
  const teacher = new AnswerHistory(rendered, []);
  for (let answer = 0; answer < 10; answer += 1) teacher.note(0, 4);
  return { known: new AnswerHistory(rendered, teacher.summarize(() => 10)), unknown: teacher };
}

async function order(determinism: Determinism, answers: AnswerHistory, orders: object[] = []) {
  const dir = makeTempDir();
  mkdirSync(join(dir, 'requests'));
  const written: object[] = [];
  const context = { config: {}, determinism, epoch: 1, run: { dir }, events: { history: { orders }, append: async (event: object) => void written.push(event) } } as unknown as Context;
  const plan = { data: 1, pipeline: 1, kvCacheBytes: 1000, memory: { kvBytesPerToken: 1 } };
  const { order: rows } = await orderOpenRequests(context, { plan, index, results: new ResultLedger(index), answers } as unknown as Planned);
  return { rows: [...rows], event: written[0] };
}

test('in fast the lengths of earlier answers stand for budgets, and in the record', async () => {
  const { known, unknown } = learned();
  const first = await order('fast', unknown);
  expect(first.rows).toEqual([0, 1, 2, 3]);
  expect(first.event).not.toHaveProperty('expectedNewTokens');
  // The longest in the worst case opens all the same.
  expect(await order('fast', known)).toMatchObject({ rows: [0, 2, 3, 1], event: { expectedNewTokens: { first: 4 } } });
});

test.each(['strict', 'isolated'] as const)('in %s the order is made of the requests alone', async (determinism) => {
  const { known, unknown } = learned();
  expect(await order(determinism, known)).toEqual(await order(determinism, unknown));
});

test('a run that is resumed goes on with the lengths it began with', async () => {
  const { known } = learned();
  expect((await order('fast', known, [{}])).rows).toEqual([0, 1, 2, 3]);
  expect(await order('fast', known, [{ expectedNewTokens: { second: 1 } }])).toMatchObject({ rows: [0, 1, 2, 3], event: { expectedNewTokens: { second: 1 } } });
});
