// What a run is told that nothing fitted in: which replica said so, and the least that would help.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError, GIB } from '@assay/domain';
import { choosePlan, nextRung, parseModelFacts, type Plan, type PlanInput } from '@assay/planner';
import { INDEX_COLUMNS, type Probed, type RequestIndex } from '@assay/protocol';
import { Metrics } from '@assay/telemetry';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { probePlan } from './probe.ts';
import type { ProbeReport } from '../records/probe-report.ts';

type Context = Parameters<typeof probePlan>[0];
type Processes = Parameters<typeof probePlan>[1];

const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(8)])) as RequestIndex['columns'];
columns.contextTokens.fill(900);
columns.continuationTokens.fill(10);
const index: RequestIndex = { count: 8, tokenOffset: new BigUint64Array(8), columns };

const facts = parseModelFacts({
  architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3,
  intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192,
}, [{ weight: { dtype: 'BF16', shape: [134_515_008], bytes: 269_030_016 } }]);

const limitedTo = (gib: number): PlanInput => ({
  plan: 'auto', modelArgs: {}, limits: { memory: gib * GIB }, determinism: 'fast', facts, index, maxModelLen: 1024, node: { cpus: [0, 1], memoryBytes: 16 * GIB, gpus: [] },
});

/** Probes on two replicas, of which the second never has room. */
async function probeWithoutRoom(input: PlanInput): Promise<{ error: AssayError; tried: Plan[] }> {
  const dir = makeTempDir();
  const probe = join(dir, 'probe.json');
  const history = { rungs: [] as object[] };
  const context = {
    epoch: 1, config: { probe: true }, run: { dir, paths: { probe, plan: join(dir, 'plan.json') } }, metrics: new Metrics({ version: '0', commit: null }),
    events: { history, append: async (event: { type: string }) => { if (event.type === 'rung_taken') history.rungs.push(event); } },
    experience: { recallVerdict: () => undefined, noteProbe: () => undefined }, ui: { onNote: () => undefined, onProbe: () => undefined },
    stop: AbortSignal.any([]), drain: AbortSignal.any([]),
  } as unknown as Context;
  const reply = (verdict: 'fits' | 'oom') => ({ verdict, peakBytes: GIB, seconds: 1, ...(verdict === 'oom' ? { failure: { class: 'oom', message: 'no room', where: 'logits' } } : {}) }) as unknown as Probed;
  const replicas = [0, 1].map((number) => ({ number, handle: { name: `engine-${number}`, logFile: `logs/engine-${number}.log` }, plan: undefined }));
  const pool = { replicas, load: async () => replicas.map(() => ({ peakBytes: GIB })), probe: async () => [reply('fits'), reply('oom')] };
  const processes = { pool, layOut: async () => undefined } as unknown as Processes;
  const error = await probePlan(context, processes, { plan: choosePlan(input), index, isStored: false, input }).then(() => undefined, (thrown: unknown) => thrown);
  if (!(error instanceof AssayError)) throw new Error('the probe did not end with an error of the table', { cause: error });
  const { rungs } = JSON.parse(await readFile(probe, 'utf8')) as ProbeReport;
  return { error, tried: rungs.map(({ plan }) => plan) };
}

const shareOf = ({ memory, memoryLimitBytes }: Plan) => memory.totalBytes / memoryLimitBytes;

/** Of the limit that the least plan of an input would take. */
function leastShare(input: PlanInput): number {
  const plans = [choosePlan(input)];
  for (let next = nextRung(plans[0]!, {}, plans); next; next = nextRung(next, {}, plans)) plans.push(next);
  return shareOf(plans.at(-1)!);
}

test('where nothing fits the least limit is named that leaves more room than those that failed, and whose log tells more', async () => {
  const { error, tried } = await probeWithoutRoom(limitedTo(4));
  expect(tried.length).toBeGreaterThan(1);
  expect(error.code).toBe('PROBE_OOM');
  expect(error.message).toMatch(new RegExp(`^the model does not fit: ${tried.length} plans were tried, .* of 4\\.00 GiB \\(engine-1: no room\\)$`));
  const remedy = /^It would probably fit with limits\.memory=(\d+)GiB\. The log is logs\/engine-1\.log\.$/.exec(error.remedy);
  expect(remedy, error.remedy).not.toBeNull();
  const [named, shown] = [Number(remedy![1]), Math.min(1, ...tried.map(shareOf))];
  expect(leastShare(limitedTo(named)) / shown).toBeLessThan(0.97);
  expect(leastShare(limitedTo(named - 1)) / shown).toBeGreaterThanOrEqual(0.97);
});
