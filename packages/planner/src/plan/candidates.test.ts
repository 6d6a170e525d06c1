import { expect, test } from 'vitest';
import type { Candidate } from './candidate.ts';
import { explain, layoutOf, llama70b, mistral7b } from './candidates-fixture.ts';
import { engineEnvOf } from './engine-args.ts';
import { factsOf, LLAMA_8B_CONFIG, QWEN_GPTQ_CONFIG, smollm2 } from '../model/model-facts-fixture.ts';
import { parseModelFacts } from '../model/model-facts.ts';
import { buildIndex } from '../requests/request-index-fixture.ts';

const llama8b = factsOf(LLAMA_8B_CONFIG, 8_030_261_248);
const shaped = (heads: number, kvHeads: number, parameters: number) => factsOf(
  { ...LLAMA_8B_CONFIG, hidden_size: 128 * heads, num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: 128, vocab_size: 128_128 }, parameters);
const find = (candidates: readonly Candidate[], layout: Partial<Candidate>) => candidates.find((candidate) => Object.entries(layout).every(([name, value]) => candidate[name as keyof Candidate] === value))!;
const tensorSizes = (candidates: readonly Candidate[]) => [...new Set(candidates.filter(({ verdict }) => verdict !== 'refused').map(({ tensor }) => tensor))].toSorted((a, b) => a - b);

test('a model that fits one device runs as replicas, and splits lose by what their ranks send', () => {
  const choice = explain('8xH100-80GB', { facts: llama8b });
  expect(layoutOf(choice)).toBe('8×1×1');
  expect(choice.plan!.why[0]).toBe('the model fits one GPU: 8 replicas rather than one over 8 tensor ranks');
  expect(find(choice.candidates, { tensor: 8 }).lost).toMatch(/slower at full load: one replica a device does the same work without communication \(\d+ s of it here\)\.$/);
  expect(find(choice.candidates, { tensor: 3, pipeline: 1 }).lost).toBe('tensor=3: attention heads (32) cannot be divided by 3. Valid by its 32 heads: tensor=1, 2, 4, 8, 16, 32.');
});

const fewRequests = buildIndex([{ context: 1200, budget: 512 }, { kind: 'loglikelihood', context: 1500, continuation: 4 }]);

test('how a replica is laid out depends on no number of requests, so that a subset of a run has the same', () => {
  const withoutReplicas = (choice: ReturnType<typeof explain>) => layoutOf(choice)?.replace(/^\d+/, '');
  for (const devices of ['8xH100-80GB', '4xL4', '2xRTX4090']) expect(withoutReplicas(explain(devices, { facts: llama8b, index: fewRequests }))).toBe(withoutReplicas(explain(devices, { facts: llama8b })));
});

test('there are never more replicas than requests, whoever asked for them, and the plan says why', () => {
  const { plan, candidates } = explain('8xH100-80GB', { facts: llama8b, index: fewRequests });
  expect(plan).toMatchObject({ data: 2, deviceSets: [['H100-80GB-0'], ['H100-80GB-1']] });
  expect(plan!.why).toContain('data=2 in place of 8: the run has 2 requests, and a further replica would have none');
  const settings = [{}, { plan: { data: 4 } }, { plan: { data: 4 }, determinism: 'strict' as const }, { determinism: 'isolated' as const }];
  const chosen = ['8xH100-80GB', 'cpu:8:64GiB'].flatMap((devices) => settings.map((change) => explain(devices, { facts: smollm2, index: fewRequests, ...change })));
  for (const choice of chosen) {
    expect(choice.plan!.data).toBeLessThanOrEqual(2);
    expect(choice.candidates.every(({ data, plan: weighed }) => data <= 2 && (weighed?.data ?? data) === data)).toBe(true);
    expect(new Set(choice.candidates.map(({ data, tensor, pipeline }) => `${data}×${tensor}×${pipeline}`)).size).toBe(choice.candidates.length);
  }
  expect(candidates[0]).toMatchObject({ isChosen: true, data: 2 });
});

test('replicas on cores that are not needed leave their threads to the others', () => {
  expect(explain('cpu:8:64GiB', { facts: smollm2, index: fewRequests, plan: { data: 4 } }).plan).toMatchObject({ data: 2, threadsPerWorker: 4 });
});

test('every candidate has its terms, its time and one sentence, but for the chosen one', () => {
  const { candidates, plan } = explain('4xH100-80GB');
  expect(candidates.filter(({ isChosen }) => isChosen)).toHaveLength(1);
  expect(candidates[0]).toMatchObject({ isChosen: true, data: 1, tensor: 4, pipeline: 1, verdict: 'fits' });
  expect(plan).toMatchObject({ tensor: 4, deviceSets: [['H100-80GB-0', 'H100-80GB-1', 'H100-80GB-2', 'H100-80GB-3']] });
  for (const { isChosen, lost, verdict, time, memory } of candidates) {
    expect(lost === undefined).toBe(isChosen);
    expect(lost ?? '.').toMatch(/\.$/);
    if (verdict === 'refused') continue;
    expect(time!.wallSeconds).toBeGreaterThan(time!.loadSeconds);
    expect(memory!.terms.weights).toBeGreaterThan(0);
  }
  expect(find(candidates, { data: 4 }).lost).toMatch(/^does not fit: the weights take 131\.4 GiB of the 71\.7 GiB of each rank/);
  expect(find(candidates, { data: 2, tensor: 2 }).lost).toMatch(/times as long at full load: its KV cache has room for only \d+ sequences at a time/);
});

test('wishes restrict the candidates', () => {
  expect(explain('8xH100-80GB', { facts: llama8b, plan: { tensor: 2 } }).candidates.every(({ tensor }) => tensor === 2)).toBe(true);
  expect(layoutOf(explain('8xH100-80GB', { facts: llama8b, plan: { tensor: 2 } }))).toBe('4×2×1');
  expect(layoutOf(explain('8xH100-80GB', { plan: { data: 2 } }))).toBe('2×4×1');
  expect(layoutOf(explain('8xH100-80GB', { plan: { pipeline: 4, data: 1 } }))).toBe('1×2×4');
});

test('14 heads on eight GPUs are never cut in four or eight', () => {
  const { candidates } = explain('8xL4', { facts: shaped(14, 14, 20e9) });
  expect(tensorSizes(candidates)).toEqual([1, 2, 7]);
  expect(layoutOf(explain('8xL4', { facts: shaped(14, 14, 12e9), plan: { pipeline: 1 } }))).toBe('4×2×1');
});

test.each([[3, '1×2×1'], [5, '2×2×1'], [6, '3×2×1'], [7, '3×2×1']])('20B with 32 heads on %i GPUs without stages is %s', (devices, layout) => {
  const choice = explain(`${devices}xA100-40GB`, { facts: shaped(32, 16, 20e9), plan: { pipeline: 1 } });
  expect(layoutOf(choice)).toBe(layout);
  expect(choice.plan!.why.join()).toContain('tensor=2, pipeline=1: the smallest split that fits, divides the heads');
  expect(find(choice.candidates, { tensor: 3 }).lost).toContain('attention heads (32) cannot be divided by 3');
});

test('KV heads are divided or replicated, and replicated ones cost each rank as much', () => {
  expect(tensorSizes(explain('8xH100-80GB', { facts: shaped(64, 10, 27e9) }).candidates)).toEqual([1, 2]);
  const { candidates } = explain('8xH100-80GB', { facts: shaped(64, 2, 27e9) });
  const perToken = [1, 2, 8].map((tensor) => find(candidates, { tensor, pipeline: 1 }).memory!.kvBytesPerToken);
  expect(perToken[1]).toBe(perToken[0]! / 2);
  expect(perToken[2]).toBe(perToken[1]);
});

test('groups of 128 refuse the sizes that cut one', () => {
  const facts = parseModelFacts(QWEN_GPTQ_CONFIG, []);
  const { candidates } = explain('8xL4', { facts });
  expect(tensorSizes(candidates)).toEqual([1, 2, 4]);
  expect(find(candidates, { tensor: 7 }).verdict).toBe('refused');
});

test('nothing is quantised or kept on the host unless the user allows it', () => {
  const plain = explain('2xH100-80GB').plan!;
  expect(plain).not.toHaveProperty('cpuOffloadBytes');
  expect(plain.facts.quantization).toBeUndefined();
  const offloaded = explain('1xH100-80GB', { modelArgs: { cpu_offload_gb: 80 } });
  expect(offloaded.plan).toMatchObject({ cpuOffloadBytes: 80 * 2 ** 30 });
  // Every step reads what stays on the host over the bus.
  expect(offloaded.candidates[0]!.time!.fullLoadSeconds).toBeGreaterThan(5 * explain('2xH100-80GB').candidates[0]!.time!.fullLoadSeconds);
});

test('devices without bfloat16 get float16, unless bfloat16 was asked for', () => {
  const { plan } = explain('2xT4', { facts: smollm2 });
  expect(plan).toMatchObject({ dtype: 'float16' });
  expect(plan!.why).toContain('dtype=float16: T4 has no bfloat16 (compute capability 7.5)');
  expect(() => explain('2xT4', { facts: smollm2, modelArgs: { dtype: 'bfloat16' } })).toThrow('T4 has no bfloat16');
  expect(explain('1xL4', { facts: smollm2 }).plan).toMatchObject({ dtype: 'bfloat16' });
});

test('a small card takes a smaller step before it takes too small a cache', () => {
  const { plan } = explain('1xRTX4090', { facts: mistral7b });
  expect(plan!.kvCacheBytes).toBeGreaterThan(plan!.memory.terms.activation);
  expect(explain('1xH200-141GB', { facts: llama70b, modelArgs: { quantization: 'fp8' } }).plan!.maxNumBatchedTokens).toBe(16384);
});

test('on CPU the usual layout is taken where it fits, and stages and ranks say why they were not', () => {
  const { plan, candidates } = explain('cpu:4:32GiB', { facts: smollm2 });
  expect(plan).toMatchObject({ data: 1, tensor: 1, pipeline: 1, threadsPerWorker: 4 });
  expect(find(candidates, { pipeline: 2 }).lost).toMatch(/stages on CPU must be compiled/);
  expect(find(candidates, { tensor: 3 }).lost).toMatch(/ranks on the same cores add communication to the same work/);
  expect(find(candidates, { data: 4 }).lost).toMatch(/each further replica holds the weights once more/);
  expect(find(candidates, { tensor: 2 }).lost).toContain('tensor=1, 3, 9');
});

test('where the usual replicas do not fit a CPU node, fewer are taken', () => {
  const { plan } = explain('cpu:4:14GiB', { facts: factsOf(LLAMA_8B_CONFIG, 4e9), determinism: 'strict', plan: 'auto', limits: { memory: 13 * 2 ** 30, kind: 'cgroup' } });
  expect(plan).toMatchObject({ tensor: 1, pipeline: 1, threadsPerWorker: 1 });
});

test('tensor ranks on CPU are bound to cores explicitly', () => {
  const { plan } = explain('cpu:2:16GiB', { facts: smollm2, plan: { tensor: 3 } });
  expect(engineEnvOf(plan!)).toMatchObject({ VLLM_CPU_OMP_THREADS_BIND: '0|1|1' });
});

test('without a C++ compiler a plan on CPU stays eager and says so, and stages are refused', () => {
  const long = buildIndex(Array.from({ length: 20_000 }, () => ({ context: 500, budget: 512 })));
  const node = { cpus: [0, 1], memoryBytes: 16 * 2 ** 30, gpus: [] };
  const input = { facts: smollm2, index: long, node };
  expect(explain('cpu:2', { ...input, node: { ...node, compiler: '/usr/bin/g++' } }).plan).toMatchObject({ enforceEager: false });
  const { plan } = explain('cpu:2', input);
  expect(plan).toMatchObject({ enforceEager: true });
  expect(plan!.why.join()).toContain('needs a C++ compiler (there is no g++ on the PATH and CXX names none)');
  const staged = explain('cpu:2', { ...input, plan: { pipeline: 2 } });
  expect(staged.plan).toBeUndefined();
  expect(staged.refusal).toMatchObject({ code: 'PLAN_IMPOSSIBLE', message: expect.stringContaining('pipeline stages on CPU are compiled, which needs a C++ compiler') });
  expect(explain('cpu:2', { ...input, modelArgs: { enforce_eager: false } }).refusal?.message).toContain('enforce_eager=False, which needs a C++ compiler');
});
