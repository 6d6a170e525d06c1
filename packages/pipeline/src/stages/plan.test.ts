import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from '@assay/planner';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { readStoredPlan } from './plan.ts';

const chosen = { data: 1, maxNumSeqs: 8 } as Plan;

test('the plan of an earlier start is read back, and none is none', async () => {
  const path = join(makeTempDir(), 'plan.json');
  expect(await readStoredPlan(path, chosen)).toBeUndefined();
  await writeFile(path, JSON.stringify({ rung: 1, plan: chosen }));
  expect(await readStoredPlan(path, chosen)).toEqual({ rung: 1, plan: chosen });
});

test.each(['{}', '[]', 'null', '5', '{"rung":0,"plan":null}', '{"rung":0,"plan":{"data":1}}', '{"plan":{"data":1,"maxNumSeqs":8}}', '{'])('%s is a damaged plan, named by file', async (text) => {
  const path = join(makeTempDir(), 'plan.json');
  await writeFile(path, text);
  await expect(readStoredPlan(path, chosen)).rejects.toMatchObject({ code: 'RESULTS_DAMAGED', details: { file: path } });
});
