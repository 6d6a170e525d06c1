import { GIB } from '@assay/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import unknown from '../../fixtures/models/synthetic-unknown-architecture.json' with { type: 'json' };
import { choosePlan } from './choose-plan.ts';
import { engineArgsOf } from './engine-args.ts';
import { factsOf, LLAMA_8B_CONFIG, smollm2 } from '../model/model-facts-fixture.ts';
import { parseModelFacts } from '../model/model-facts.ts';
import type { PlanInput } from './plan-draft.ts';
import { isSamePlan, type Plan } from '../plan.ts';
import { buildIndex, fourAlike } from '../requests/request-index-fixture.ts';
import { nextRung } from './rungs.ts';

const cpuPlan = (longest: number) => choosePlan({
  plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', node: { cpus: [0, 1], memoryBytes: 16 * GIB, gpus: [] }, facts: smollm2, maxModelLen: 8192,
  index: buildIndex([...Array.from({ length: 200 }, () => ({ context: 2000, budget: 500 })), { kind: 'loglikelihood', context: longest }]),
});
const gpuPlan = choosePlan({
  plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', facts: factsOf(LLAMA_8B_CONFIG, 8_030_261_248), maxModelLen: 8192, index: fourAlike({ context: 4000, budget: 500 }),
  node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus: [0, 1, 2, 3].map((number) => ({ id: `GPU-${number}`, name: 'test', memoryBytes: 80 * GIB, freeBytes: 80 * GIB })) },
});
const WHERE = [undefined, 'weights', 'kv', 'activation', 'logits', 'graph'] as const;

function descend(start: Plan, wheres: readonly (typeof WHERE)[number][]): Plan[] {
  const tried = [start];
  for (const where of wheres) {
    const next = nextRung(tried.at(-1)!, { where }, tried);
    if (!next) break;
    tried.push(next);
  }
  return tried;
}

test('logits of a long scored prompt are lowered by fewer batched tokens', () => {
  const next = nextRung(cpuPlan(8100), { where: 'logits' }, [])!;
  expect(next).toMatchObject({ maxNumBatchedTokens: 2048, maxNumSeqs: 128 });
  expect(next.why.at(-1)).toBe('out of memory (logits): fewer batched tokens, max_num_batched_tokens 4096 → 2048');
  expect(next.memory.totalBytes).toBeLessThan(cpuPlan(8100).memory.totalBytes);
});

test('a rung goes as far as it must: halves that no prompt reaches are skipped', () => {
  expect(nextRung(cpuPlan(600), { where: 'logits' }, [])).toMatchObject({ maxNumBatchedTokens: 1024 });
});

test('a rung that cannot lower the failing term is skipped', () => {
  const plan = cpuPlan(8100);
  expect(nextRung(plan, { where: 'weights' }, [])).toBeUndefined();
  expect(nextRung(plan, { where: 'graph' }, [])?.maxNumBatchedTokens).toBe(plan.maxNumBatchedTokens);
  const smaller = nextRung(plan, { where: 'kv' }, [])!;
  expect(smaller.kvCacheBytes).toBeLessThan(plan.kvCacheBytes);
  expect(smaller.maxNumBatchedTokens).toBe(plan.maxNumBatchedTokens);
});

test('weights that do not fit a GPU are cut over twice as many', () => {
  expect(nextRung(gpuPlan, { where: 'weights' }, [])).toMatchObject({ tensor: 2, data: 2, deviceSets: [['GPU-0', 'GPU-1'], ['GPU-2', 'GPU-3']] });
  expect(nextRung(gpuPlan, { where: 'graph' }, [])?.enforceEager).toBe(true);
});

test('weights of nine heads, which two ranks cannot divide, are laid over twice the stages', () => {
  const plan = choosePlan({
    plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', facts: smollm2, maxModelLen: 8192, index: fourAlike({ context: 4000, budget: 500 }),
    node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus: [0, 1].map((number) => ({ id: `GPU-${number}`, name: 'test', memoryBytes: 16 * GIB, freeBytes: 16 * GIB })) },
  });
  const next = nextRung(plan, { where: 'weights' }, [])!;
  expect(next).toMatchObject({ tensor: 1, pipeline: 2, data: 1, deviceSets: [['GPU-0', 'GPU-1']] });
  expect(next.why.at(-1)).toBe('out of memory (weights): more pipeline stages, pipeline 1 → 2, data 2 → 1');
  expect(nextRung(next, { where: 'weights' }, [plan])).toBeUndefined();
});

const onGpus = (change: Partial<PlanInput>, gpus: { isMig?: boolean; memoryBytes?: number } = {}) => choosePlan({
  plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', facts: factsOf(LLAMA_8B_CONFIG, 8_030_261_248), maxModelLen: 8192, index: fourAlike({ context: 4000, budget: 500 }),
  node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus: [0, 1, 2, 3].map((number) => ({ id: `GPU-${number}`, name: 'test', memoryBytes: 80 * GIB, freeBytes: 80 * GIB, ...gpus })) },
  ...change,
});

test('no rung lays a model over slices of GPUs', () => {
  const slices = onGpus({}, { isMig: true });
  expect(slices).toMatchObject({ data: 4, tensor: 1 });
  for (const where of WHERE) descend(slices, Array.from({ length: 60 }, () => where)).forEach((plan) => expect(plan).toMatchObject({ data: 4, tensor: 1, pipeline: 1 }));
});

test('a rung may use every device that is leased, in use or not', () => {
  const gpus = ['GPU-0', 'GPU-1'].map((id) => ({ id, name: 'test', memoryBytes: 80 * GIB, freeBytes: 80 * GIB }));
  const one = onGpus({ plan: { data: 1, max_num_seqs: 16 }, node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus } });
  expect(one).toMatchObject({ data: 1, tensor: 1, pipeline: 1, deviceSets: [['GPU-0']] });
  expect(nextRung(one, { where: 'weights' }, [])).toMatchObject({ data: 1, tensor: 2, pipeline: 1, deviceSets: [['GPU-0', 'GPU-1']] });
  const stages = onGpus({ plan: { data: 1, tensor: 1 } });
  expect(stages).toMatchObject({ data: 1, pipeline: 3 });
  expect(nextRung(stages, { where: 'weights' }, [])).toMatchObject({ data: 1, pipeline: 4, deviceSets: [['GPU-0', 'GPU-1', 'GPU-2', 'GPU-3']] });
});

test('sizes that the user asked for stay as they are', () => {
  for (const plan of [{ tensor: 1 }, { pipeline: 1 }, { data: 2 }, { data: 2, tensor: 1 }, { data: 4 }, { tensor: 2, pipeline: 1 }]) {
    const start = onGpus({ plan });
    for (const where of WHERE) descend(start, Array.from({ length: 60 }, () => where)).forEach((rung) => expect(rung).toMatchObject(plan));
  }
  expect(nextRung(onGpus({ plan: { tensor: 1 } }), { where: 'weights' }, [])).toMatchObject({ tensor: 1, pipeline: 2, data: 2 });
  expect(nextRung(onGpus({ plan: { data: 4 } }), { where: 'weights' }, [])).toBeUndefined();
});

test('a cache of unknown shape takes what memory leaves, shrinks for other terms, and grows by what a smaller step leaves', () => {
  const facts = parseModelFacts(unknown.config, [{ w: { dtype: 'BF16', shape: [8e9], bytes: 16e9 } }]);
  const index = fourAlike({ kind: 'loglikelihood', context: 3000, continuation: 2 });
  const gpu = onGpus({ facts, index, maxModelLen: 4096 });
  expect(gpu).toMatchObject({ data: 4, isCacheLeftToEngine: true });
  expect(gpu.memoryLimitBytes - gpu.memory.totalBytes).toBeLessThan(2 ** 20);
  expect(engineArgsOf(gpu, {}, { model: 'm', trustRemoteCode: false })).not.toHaveProperty('kv_cache_memory_bytes');
  expect(gpu.why.join()).toContain('all that memory leaves, since what a token takes of it is not known; the engine measures');
  expect(nextRung(gpu, { class: 'kv_small' }, [])).toMatchObject({ maxNumBatchedTokens: gpu.maxNumBatchedTokens / 2, isCacheLeftToEngine: true });
  const told = nextRung(gpu, { where: 'kv' }, [])!;
  expect(engineArgsOf(told, {}, { model: 'm', trustRemoteCode: false })).toMatchObject({ kv_cache_memory_bytes: Math.ceil(gpu.kvCacheBytes / 2) });
  const share = nextRung(gpu, { class: 'startup_mem' }, [])!;
  expect(gpu.memoryLimitBytes - share.memoryLimitBytes).toBe(Math.floor(gpu.kvCacheBytes / 2));
  expect(share.memory.totalBytes).toBeLessThanOrEqual(share.memoryLimitBytes);
  const cpu = onGpus({ facts, index, maxModelLen: 4096, node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus: [] } });
  expect(cpu).not.toHaveProperty('isCacheLeftToEngine');
  expect(cpu.memoryLimitBytes - cpu.memory.totalBytes).toBeLessThan(GIB);
  expect(cpu.why.join()).toMatch(/all that memory leaves, since what a token takes of it is not known/);
  expect(nextRung(cpu, { class: 'kv_small' }, [])!.kvCacheBytes).toBeGreaterThan(cpu.kvCacheBytes);
  expect(onGpus({ facts, index, maxModelLen: 4096, modelArgs: { kv_cache_memory_bytes: GIB } })).toMatchObject({ kvCacheBytes: GIB });
});

test('a cache that cannot hold one request grows by what the limit leaves, then by what fewer batched tokens leave', () => {
  const roomy = nextRung(cpuPlan(8100), { class: 'kv_small' }, [])!;
  expect(roomy.kvCacheBytes).toBeGreaterThan(cpuPlan(8100).kvCacheBytes);
  expect(roomy.why.at(-1)).toMatch(/^too little KV cache: a larger KV cache, KV cache [\d.]+ GiB → [\d.]+ GiB$/);
  const full = { ...gpuPlan, memoryLimitBytes: gpuPlan.memory.totalBytes };
  const next = nextRung(full, { class: 'kv_zero' }, [])!;
  expect(next.maxNumBatchedTokens).toBeLessThan(full.maxNumBatchedTokens);
  expect(next.kvCacheBytes).toBeGreaterThan(full.kvCacheBytes);
  expect(next.memory.totalBytes).toBeLessThanOrEqual(full.memoryLimitBytes);
});

test('a device with less free than the engine asks for gives a smaller share, down to what the plan needs', () => {
  const first = nextRung(gpuPlan, { class: 'startup_mem' }, [])!;
  expect(first.memoryLimitBytes).toBeLessThan(gpuPlan.memoryLimitBytes);
  expect({ ...first, memoryLimitBytes: 0, why: [], memory: 0 }).toEqual({ ...gpuPlan, memoryLimitBytes: 0, why: [], memory: 0 });
  const tried = [gpuPlan];
  for (let next = nextRung(gpuPlan, { class: 'startup_mem' }, tried); next; next = nextRung(next, { class: 'startup_mem' }, tried)) tried.push(next);
  expect(tried.length).toBeLessThan(10);
  expect(tried.at(-1)!.memoryLimitBytes).toBe(gpuPlan.memory.totalBytes);
});

test('on CPU an engine that asks for too much cache at the start asks for less', () => {
  expect(nextRung(cpuPlan(8100), { class: 'startup_mem' }, [])!.kvCacheBytes).toBeLessThan(cpuPlan(8100).kvCacheBytes);
});

test('what no plan changes takes no rung', () => {
  for (const failureClass of ['arch', 'quant', 'dtype', 'heads', 'engine', 'hang', 'unknown'] as const) expect(nextRung(gpuPlan, { class: failureClass }, [])).toBeUndefined();
});

test('no rung changes the type, the quantisation or what is offloaded: those are the user\'s', () => {
  const asked = choosePlan({
    plan: 'auto', modelArgs: { quantization: 'fp8', cpu_offload_gb: 2, dtype: 'float16' }, limits: {}, determinism: 'fast', facts: factsOf(LLAMA_8B_CONFIG, 8_030_261_248), maxModelLen: 8192,
    index: buildIndex([{ context: 4000, budget: 500 }]), node: { cpus: [0, 1], memoryBytes: 64 * GIB, gpus: gpuPlan.deviceSets.flat().map((id) => ({ id, name: 'test', memoryBytes: 24 * GIB, freeBytes: 24 * GIB })) },
  });
  const chosen = ({ dtype, cpuOffloadBytes, kvElementBytes, facts: { quantization } }: Plan) => ({ dtype, cpuOffloadBytes, kvElementBytes, quantization });
  expect(chosen(asked)).toMatchObject({ dtype: 'float16', cpuOffloadBytes: 2 * GIB, quantization: { method: 'fp8' } });
  expect(chosen(gpuPlan)).toEqual({ dtype: 'bfloat16', cpuOffloadBytes: undefined, kvElementBytes: 2, quantization: undefined });
  for (const start of [asked, gpuPlan]) {
    for (const where of WHERE) descend(start, Array.from({ length: 60 }, () => where)).forEach((plan) => expect(chosen(plan)).toEqual(chosen(start)));
  }
});

test('no plan comes twice, each wants less than the one before, and the way down ends', () => {
  fc.assert(fc.property(fc.array(fc.constantFrom(...WHERE), { minLength: 60, maxLength: 60 }), fc.constantFrom(cpuPlan(8100), cpuPlan(300), gpuPlan), (wheres, start) => {
    const tried = descend(start, wheres);
    expect(tried.length).toBeLessThan(60);
    tried.forEach((plan, place) => {
      expect(tried.slice(0, place).some((other) => isSamePlan(other, plan))).toBe(false);
      expect(plan.maxNumBatchedTokens).toBeGreaterThanOrEqual(plan.maxNumSeqs);
      expect(plan.kvCacheBytes).toBeGreaterThanOrEqual(plan.minKvCacheBytes);
      if (place > 0) expect(plan.memory.totalBytes).toBeLessThan(tried[place - 1]!.memory.totalBytes);
    });
  }));
});
