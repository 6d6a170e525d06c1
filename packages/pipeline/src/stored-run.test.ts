import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { readStoredPlan } from './stored-run.ts';

const FIELDS = [
  'device', 'determinism', 'data', 'tensor', 'pipeline', 'maxNumSeqs', 'maxNumBatchedTokens', 'maxModelLen', 'kvCacheBytes', 'minKvCacheBytes',
  'kvElementBytes', 'enforceEager', 'enablePrefixCaching', 'dtype', 'threadsPerWorker', 'cpuSets', 'deviceSets', 'tensorSizes', 'memoryLimitBytes',
  'memory', 'facts', 'workload', 'why',
];
const plan = Object.fromEntries(FIELDS.map((field) => [field, 1]));

test('the plan of an earlier start is read back, and none is none', async () => {
  const path = join(makeTempDir(), 'plan.json');
  expect(await readStoredPlan(path)).toBeUndefined();
  await writeFile(path, JSON.stringify({ rung: 1, plan }));
  expect(await readStoredPlan(path)).toEqual({ rung: 1, plan });
});

test.each(['{}', '[]', 'null', '5', '{"rung":0,"plan":null}', '{"rung":0,"plan":{"data":1}}', JSON.stringify({ plan }), '{'])('%s is a damaged plan, named by file', async (text) => {
  const path = join(makeTempDir(), 'plan.json');
  await writeFile(path, text);
  await expect(readStoredPlan(path)).rejects.toMatchObject({ code: 'RESULTS_DAMAGED', details: { file: path } });
});
