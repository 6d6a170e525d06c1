// The settings of bench/memory, planned where a GPU is not: the check itself needs one, its plans do not.
import { imagineNode, parseModelFacts } from '@assay/planner';
import { expect, test } from 'vitest';
import { planSetting, SETTINGS } from '../../bench/memory/settings.ts';
import smollm2 from '../../packages/planner/fixtures/models/smollm2-135m.json' with { type: 'json' };

const facts = parseModelFacts(smollm2.config, []);

test.each(SETTINGS)('$name: planned on one GPU of several, within its memory', (setting) => {
  const node = imagineNode('2xH200-141GB');
  const { plan, steps } = planSetting(setting, { facts, node });
  expect(plan).toMatchObject({ device: 'cuda', data: 1, tensor: 1, pipeline: 1, dtype: setting.dtype, maxNumBatchedTokens: setting.maxNumBatchedTokens, memory: { kind: 'device' } });
  expect(plan.memory.totalBytes).toBeLessThan(node.gpus[0]!.memoryBytes);
  expect(steps.length).toBeGreaterThan(0);
});

test.each(SETTINGS)('$name: planned on one core, under a limit of address space', (setting) => {
  const { plan } = planSetting(setting, { facts, node: imagineNode('cpu:2:16GiB') });
  expect(plan).toMatchObject({ device: 'cpu', data: 1, maxNumSeqs: setting.maxNumSeqs, memory: { kind: 'address_space' } });
});
