import { expect, test } from 'vitest';
import { explain, layoutOf } from './candidates-fixture.ts';
import { factsOf, LLAMA_8B_CONFIG } from '../model/model-facts-fixture.ts';
import { resumePlan } from './resume-plan.ts';
import { nextRung } from './rungs.ts';

const facts = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
const planOn = (devices: string, change = {}) => explain(devices, { facts, ...change }).plan!;

test('a run goes on with what it was started with, over as many replicas as there are devices for', () => {
  const resumed = resumePlan({ ...planOn('4xH100-80GB'), maxNumSeqs: 7, kvCacheBytes: 99 }, planOn('2xH100-80GB'));
  expect(resumed).toMatchObject({ data: 2, tensor: 1, maxNumSeqs: 7, kvCacheBytes: 99, deviceSets: [['H100-80GB-0'], ['H100-80GB-1']] });
});

test('after a rung to more ranks the devices are grouped by those', () => {
  const rung = nextRung(planOn('4xH100-80GB'), { where: 'weights' }, [])!;
  expect(rung).toMatchObject({ data: 2, tensor: 2 });
  const resumed = resumePlan(rung, planOn('8xH100-80GB'));
  expect(layoutOf({ plan: resumed } as never)).toBe('4×2×1');
  expect(resumed.deviceSets.map((set) => set.length)).toEqual([2, 2, 2, 2]);
  expect(new Set(resumed.deviceSets.flat()).size).toBe(8);
  expect(() => resumePlan(rung, planOn('1xH100-80GB'))).toThrow('the run goes on with tensor=2 and pipeline=1, and there are 1 GPUs');
});
