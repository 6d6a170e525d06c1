import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { choosePlan } from './choose-plan.ts';
import { resolveDtype } from '../model/dtypes.ts';
import { engineArgsOf, engineEnvOf } from './engine-args.ts';
import { factsOf, LLAMA_8B_CONFIG, smollm2 } from '../model/model-facts-fixture.ts';
import type { PlanInput } from './plan-draft.ts';
import { kvCacheTokens, type Plan } from '../plan.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

const twoCores = { cpus: [0, 1], memoryBytes: 16 * GIB, gpus: [], compiler: '/usr/bin/g++' };
const gpu = (number: number, memoryBytes = 80 * GIB) => ({ id: `GPU-${number}`, name: 'test', memoryBytes, freeBytes: memoryBytes });
const gpus = (count: number, memoryBytes?: number) => ({ cpus: Array.from({ length: 16 }, (_, core) => core), memoryBytes: 128 * GIB, gpus: Array.from({ length: count }, (_, number) => gpu(number, memoryBytes)) });
const index = buildIndex([...Array.from({ length: 100 }, () => ({ kind: 'loglikelihood' as const, context: 300, continuation: 4 })), ...Array.from({ length: 60 }, () => ({ context: 500, budget: 64 }))]);

function choose(change: Partial<PlanInput> = {}): Plan {
  return choosePlan({ plan: 'auto', modelArgs: {}, limits: {}, determinism: 'fast', node: twoCores, facts: smollm2, index, maxModelLen: 8192, ...change });
}

test('fast on two cores is one worker on both, eager for a short run, with a whole GiB of cache', () => {
  const plan = choose();
  expect(plan).toMatchObject({ device: 'cpu', data: 1, tensor: 1, threadsPerWorker: 2, cpuSets: [[0, 1]], enforceEager: true, enablePrefixCaching: true, dtype: 'bfloat16', maxModelLen: 8192, maxNumBatchedTokens: 4096 });
  expect(plan.kvCacheBytes % GIB).toBe(0);
  expect(kvCacheTokens(plan)).toBeGreaterThanOrEqual(8192);
  expect(plan.why.length).toBeGreaterThan(3);
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
});

test('two replicas on two cores get a core each, bound from outside', () => {
  const plan = choose({ plan: { data: 2 } });
  expect(plan).toMatchObject({ data: 2, threadsPerWorker: 1, cpuSets: [[0], [1]], memoryLimitBytes: 8 * GIB });
  expect(engineEnvOf(plan, 1)).toEqual({ VLLM_ENABLE_V1_MULTIPROCESSING: '0', VLLM_CPU_OMP_THREADS_BIND: 'nobind', OMP_NUM_THREADS: '1', TORCH_COMPILE_DISABLE: '1' });
});

test.each(['strict', 'isolated'] as const)('%s has one thread a worker for any number of workers', (determinism) => {
  expect(choose({ determinism })).toMatchObject({ data: 2, threadsPerWorker: 1 });
  expect(choose({ determinism, plan: { data: 1 } })).toMatchObject({ data: 1, threadsPerWorker: 1, cpuSets: [[0]] });
});

test.each(['strict', 'isolated'] as const)('in %s only the layout depends on the number of replicas', (determinism) => {
  const scored = buildIndex([{ kind: 'loglikelihood', context: 8100 }, ...Array.from({ length: 3000 }, () => ({ context: 2000, budget: 256 }))]);
  const node = { ...twoCores, memoryBytes: 9 * GIB };
  const [one, two] = [1, 2].map((data) => choose({ determinism, index: scored, node, plan: { data } })) as [Plan, Plan];
  const { data: _, cpuSets: _cores, why: _why, ...numerics } = one;
  expect(two).toMatchObject(numerics);
});

test('isolated runs one sequence without prefix cache, alike for any other requests', () => {
  const plan = choose({ determinism: 'isolated' });
  expect(plan).toMatchObject({ maxNumSeqs: 1, enablePrefixCaching: false, enforceEager: true });
  const fields = ({ maxNumSeqs, maxNumBatchedTokens, enforceEager, threadsPerWorker, maxModelLen }: Plan) => ({ maxNumSeqs, maxNumBatchedTokens, enforceEager, threadsPerWorker, maxModelLen });
  const other = choose({ determinism: 'isolated', index: buildIndex([{ context: 8000, budget: 100 }, { kind: 'loglikelihood', context: 7000 }]) });
  expect(fields(other)).toEqual(fields(plan));
  expect(() => choose({ determinism: 'isolated', modelArgs: { max_num_seqs: 4 } })).toThrow(/isolated and max_num_seqs=4/);
  expect(() => choose({ determinism: 'isolated', modelArgs: { enable_prefix_caching: 'True' } })).toThrow(/isolated and enable_prefix_caching/);
});

test('long generation is compiled on CPU, unless the user decides', () => {
  const long = buildIndex(Array.from({ length: 20_000 }, () => ({ context: 500, budget: 512 })));
  expect(choose({ index: long }).enforceEager).toBe(false);
  expect(choose({ index: long, modelArgs: { enforce_eager: true } }).enforceEager).toBe(true);
  expect(choose({ modelArgs: { enforce_eager: 'False' } }).enforceEager).toBe(false);
});

test('pipeline stages on CPU are compiled, and ranks get a set of cores each', () => {
  expect(choose({ plan: { pipeline: 2 } })).toMatchObject({ pipeline: 2, enforceEager: false });
  expect(() => choose({ plan: { pipeline: 2 }, modelArgs: { enforce_eager: true } })).toThrow(/do not run with enforce_eager/);
  const plan = choose({ plan: { tensor: 3 } });
  expect(engineEnvOf(plan)).toMatchObject({ VLLM_CPU_OMP_THREADS_BIND: '0|1|1', OMP_NUM_THREADS: '1', TORCH_COMPILE_DISABLE: '1' });
  expect(() => choose({ plan: { tensor: 2 } })).toThrow('attention heads (9) cannot be divided by 2');
});

test('wishes win from either place, and contradictions are refused by name', () => {
  expect(choose({ modelArgs: { max_num_seqs: 8, max_num_batched_tokens: '1024', max_length: 4096 } })).toMatchObject({ maxNumSeqs: 8, maxNumBatchedTokens: 1024 });
  expect(choose({ maxBatchSize: 16 }).maxNumSeqs).toBe(16);
  expect(() => choose({ plan: { max_num_seqs: 4 }, modelArgs: { max_num_seqs: 8 } })).toThrow('plan.max_num_seqs is 4 and model_args.max_num_seqs is 8');
  expect(() => choose({ modelArgs: { max_num_seqs: 'many' } })).toThrow('max_num_seqs: expected a whole number above 0, got many');
  expect(() => choose({ modelArgs: { max_num_seqs: 64, max_num_batched_tokens: 32 } })).toThrow('max_num_batched_tokens=32 is less than max_num_seqs=64');
});

test('a limit of 5 GiB is tried with the default batch, since the probe decides; half of it is not', () => {
  const scored = buildIndex([{ kind: 'loglikelihood', context: 8100 }, ...Array.from({ length: 20 }, () => ({ kind: 'loglikelihood' as const, context: 100 }))]);
  const limited = choose({ index: scored, limits: { memory: 5 * GIB } });
  expect(limited).toMatchObject({ maxNumBatchedTokens: 4096, kvCacheBytes: GIB });
  expect(limited.memory).toMatchObject({ kind: 'address_space' });
  const tight = choose({ index: scored, limits: { memory: 4 * GIB } });
  expect(tight.maxNumBatchedTokens).toBeLessThan(4096);
  expect(tight.why.join()).toContain(`max_num_batched_tokens=${tight.maxNumBatchedTokens}: `);
  expect(choose({ index: scored, limits: { memory: 5 * GIB, kind: 'cgroup' } }).memory.kind).toBe('resident');
  // A control group holds all ranks of its worker.
  expect(choose({ index: scored, limits: { memory: 12 * GIB, kind: 'cgroup' }, plan: { tensor: 3 } }).memoryLimitBytes).toBe(4 * GIB);
});

test('a limit above what the node has left is planned for as if there were none, and the plan says so', () => {
  const free = choose({});
  const smaller = { ...twoCores, memoryBytes: 3 * GIB };
  for (const kind of ['address_space', 'cgroup'] as const) {
    const { why, memory, ...plan } = choose({ limits: { memory: 64 * GIB, kind } });
    const { why: whyFree, memory: memoryFree, ...planFree } = free;
    expect([plan, memory]).toEqual([planFree, memoryFree]);
    expect(why.filter((line) => !whyFree.includes(line))).toEqual([expect.stringContaining('limits.memory 64.0 GiB is more than this node has: 16.0 GiB left')]);
    expect(choose({ limits: { memory: 5 * GIB, kind }, node: smaller })).toMatchObject({ memoryLimitBytes: 3 * GIB, memory: { kind: 'resident' } });
  }
  expect(choose({ limits: { memory: 5 * GIB } }).why.join()).not.toContain('limits.memory');
});

test('what would fit instead is a larger machine where the limit is not what binds', () => {
  const facts = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
  expect(() => choose({ facts, maxModelLen: 4096, limits: { memory: 64 * GIB } })).toThrow(expect.objectContaining({ remedy: expect.stringMatching(/on a machine with \d+\.\d GiB free/) }));
});

test('on CPU a cache is counted in bytes where whole GiB would not fit, and the engine is told so', () => {
  const limited = choose({ limits: { memory: 2 * GIB, kind: 'cgroup' } });
  expect(limited.kvCacheBytes).toBeLessThan(GIB);
  expect(limited.memory.totalBytes).toBeLessThanOrEqual(2 * GIB);
  expect(kvCacheTokens(limited)).toBeGreaterThanOrEqual(limited.maxModelLen);
  expect(engineArgsOf(limited, {}, { model: 'm', trustRemoteCode: false })).toMatchObject({ kv_cache_memory_bytes: limited.kvCacheBytes });
  const asked = 300 * 2 ** 20;
  expect(choose({ modelArgs: { kv_cache_memory_bytes: asked } }).kvCacheBytes).toBe(asked);
});

test('what cannot fit at all is refused before anything is loaded, with its sizes', () => {
  const facts = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
  expect(() => choose({ facts, maxModelLen: 4096 })).toThrow(/weights 1[5-6]\.\d GiB, engine .* and the smallest KV cache .* exceed the 16\.0 GiB/);
});

test('a window whose cache does not fit is lowered to what the run needs', () => {
  const facts = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
  const plan = choose({ facts, maxModelLen: 131_072, node: { ...twoCores, memoryBytes: 24 * GIB } });
  expect(plan.maxModelLen).toBeLessThan(1000);
  expect(plan.why.join()).toContain('max_model_len=');
  expect(choose({ maxModelLen: 8192 }).maxModelLen).toBe(8192);
});

test('a limit on the address space is refused on GPUs, and the engine is told the share that was planned with', () => {
  const plan = choose({ node: gpus(1) });
  expect(() => choose({ node: gpus(1), limits: { memory: 5 * GIB } })).toThrow('limits.memory is for workers on CPU');
  const { gpu_memory_utilization: share } = engineArgsOf(plan, {}, { model: '/m', trustRemoteCode: false, deviceMemoryBytes: 2 * plan.memoryLimitBytes });
  expect(share).toBe(0.5);
  expect(engineArgsOf(choose({}), {}, { model: '/m', trustRemoteCode: false })).not.toHaveProperty('gpu_memory_utilization');
});

test('a model that fits one GPU runs as replicas; a larger one takes the smallest split that fits', () => {
  const facts = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
  expect(choose({ facts, node: gpus(4), maxModelLen: 8192 })).toMatchObject({ device: 'cuda', data: 4, tensor: 1, deviceSets: [['GPU-0'], ['GPU-1'], ['GPU-2'], ['GPU-3']], enforceEager: false });
  const split = choose({ facts, node: gpus(4, 16 * GIB), maxModelLen: 8192 });
  expect(split).toMatchObject({ data: 2, tensor: 2, deviceSets: [['GPU-0', 'GPU-1'], ['GPU-2', 'GPU-3']] });
  expect(engineEnvOf(split, 1)).toMatchObject({ CUDA_VISIBLE_DEVICES: 'GPU-2,GPU-3' });
  expect(() => choose({ facts, node: gpus(2), maxModelLen: 8192, plan: { data: 2, tensor: 2 } })).toThrow('data × tensor × pipeline = 4, there are 2 GPUs');
});

test('dtype auto is the checkpoint\'s own, and float32 checkpoints run in 16 bit as in vLLM', () => {
  expect(resolveDtype('auto', { dtype: 'float16' })).toBe('float16');
  expect(resolveDtype(undefined, { dtype: 'float32' })).toBe('bfloat16');
  expect(resolveDtype('half', { dtype: 'bfloat16' })).toBe('float16');
  expect(() => resolveDtype('int3', { dtype: 'bfloat16' })).toThrow('"int3" is not one of auto');
});

test('the engine gets lm_eval\'s defaults, the plan, and the user\'s other arguments, but nothing of the harness', () => {
  const modelArgs = { pretrained: './m', max_gen_toks: 99, add_bos_token: true, max_length: 4096, swap_space: 4, device: 'cuda', block_size: 32, enable_thinking: false, seed: 7 };
  const args = engineArgsOf(choose({ modelArgs }), modelArgs, { model: '/models/m', trustRemoteCode: false });
  expect(args).toEqual({
    model: '/models/m', tokenizer_mode: 'auto', seed: 7, trust_remote_code: false, dtype: 'bfloat16', tensor_parallel_size: 1, pipeline_parallel_size: 1, max_model_len: 8192,
    max_num_seqs: 128, max_num_batched_tokens: 4096, enforce_eager: true, enable_prefix_caching: true, block_size: 32, kv_cache_memory_bytes: GIB,
  });
  expect(engineArgsOf(choose(), {}, { model: 'm', trustRemoteCode: true })).toMatchObject({ seed: 1234, trust_remote_code: true });
  expect(() => engineArgsOf(choose(), { lora_local_path: '/x' }, { model: 'm', trustRemoteCode: false })).toThrow(/lora_local_path is not supported/);
});

test.each([8e9, 35e9])('218.81 MiB to spare are no room for the 302.5 MiB of a chunk\'s logits, so the chunk shrinks (%d parameters)', (parameters) => {
  const MIB = 2 ** 20;
  const facts = factsOf({ ...LLAMA_8B_CONFIG, vocab_size: 154_880 }, parameters);
  const plan = (memoryBytes: number, asked = {}) => choose({
    facts, index: buildIndex([{ kind: 'loglikelihood', context: 1024 }]), maxModelLen: 2048, node: gpus(1, memoryBytes),
    modelArgs: { kv_cache_memory_bytes: 2 * GIB, max_num_seqs: 16, gpu_memory_utilization: 1, ...asked },
  });
  const { memory } = plan(200 * GIB, { max_num_batched_tokens: 1024 });
  const tight = plan(memory.totalBytes - memory.terms.promptLogprobs + Math.floor(218.81 * MIB));
  expect(tight.maxNumBatchedTokens).toBe(512);
  expect(tight.why.join()).toContain('max_num_batched_tokens=512: 1024 would take about');
});
