import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { choosePlan } from './choose-plan.ts';
import { factsOf, LLAMA_8B_CONFIG, smollm2 } from '../model/model-facts-fixture.ts';
import type { PlanInput } from './plan-draft.ts';
import type { Plan } from '../plan.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';
import { nextRung } from './rungs.ts';
import { suggestAfterFailure } from './suggest-smaller.ts';

const scored = buildIndex([{ kind: 'loglikelihood', context: 900, continuation: 10 }]);
const onCpu: PlanInput = { plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', facts: smollm2, node: { cpus: [0, 1], memoryBytes: 16 * GIB, gpus: [] }, index: scored, maxModelLen: 1024 };
const gpu = (number: number, gib: number) => ({ id: `GPU-${number}`, name: 'test', memoryBytes: gib * GIB, freeBytes: gib * GIB, computeCapability: '9.0' });
const onGpu = (gib: number): PlanInput => ({ ...onCpu, facts: factsOf(LLAMA_8B_CONFIG, 8_030_261_248), node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus: [gpu(0, gib)] } });

/** Every rung down to the last, all of them failed. */
function descend(input: PlanInput): Plan[] {
  const tried = [choosePlan(input)];
  for (let next = nextRung(tried[0]!, {}, tried); next; next = nextRung(next, {}, tried)) tried.push(next);
  return tried;
}

test('on CPU the least memory is named in which the last rung would take a smaller share of the limit than those that failed', () => {
  const input = { ...onCpu, limits: { memory: 4 * GIB } };
  expect(suggestAfterFailure(input, descend(input))).toBe('It would probably fit with limits.memory=5GiB.');
});

test('a machine is named where no limit was set, and none where the node has no more', () => {
  const input = { ...onCpu, node: { ...onCpu.node, memoryBytes: 4 * GIB } };
  expect(suggestAfterFailure(input, descend(input))).toBe('It would probably fit on a machine with 5.00 GiB free.');
  const limited = { ...input, limits: { memory: 4 * GIB } };
  expect(suggestAfterFailure(limited, descend(limited))).toMatch(/^Use fewer replicas, a smaller/);
});

test('a window that no request fills comes before more devices, and 16 bit before fewer', () => {
  const wide = { ...onGpu(24), modelArgs: { max_model_len: 8192 }, maxModelLen: 8192 };
  expect(suggestAfterFailure(wide, descend(wide))).toMatch(/^It would probably fit with max_model_len=1152, which no request exceeds, or in 8 bit/);
  const exact = { ...onGpu(48), modelArgs: { dtype: 'float32' } };
  expect(suggestAfterFailure(exact, descend(exact))).toMatch(/, or in 16 bit \(model_args dtype=bfloat16\)\.$/);
});

test('on GPUs devices and precision are named', () => {
  expect(suggestAfterFailure(onGpu(24), descend(onGpu(24)))).toBe('It would probably fit with twice as many such devices, or in 8 bit (model_args quantization=fp8).');
});

test('where the prediction was far off, the change is as much larger', () => {
  const input = { ...onCpu, node: { ...onCpu.node, memoryBytes: 64 * GIB }, limits: { memory: 8 * GIB } };
  expect(suggestAfterFailure(input, descend(input))).toBe('It would probably fit with limits.memory=10GiB.');
});
