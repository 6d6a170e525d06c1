// The manifest says what was in force: changing one setting changes exactly its effective field, and what must follow from it.
import { compareIdentities } from '@assay/store';
import type { Manifest } from '@assay/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { inLane } from '../support/lanes.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { requireManifest } from '../support/run-record.ts';

const isReady = requireOrSkip('the set-up', demoModel !== undefined, '`npm run setup` builds the engine and the model');
const world = new AssayWorld({ cwd: cloneDir });
afterAll(() => world.remove());

// Without compilation `enforce_eager: false` loads as fast as eager.
const MODEL_ARGS = {
  pretrained: demoModel, dtype: 'bfloat16', max_model_len: 1024, max_num_seqs: 16, max_num_batched_tokens: 1024, seed: 1, enforce_eager: true,
  enable_prefix_caching: true, compilation_config: { mode: 0 },
};
const SETTINGS = { tasks: ['control_right'], include_path: ['test/fixtures/tasks'], num_fewshot: 2, limit: 1, probe: false, seed: [0, 1234, 1234, 1234] };

/** What a manifest says beside what was effective: wishes, estimates, times, processes, observations, results and digests of them. */
const NOT_EFFECTIVE = [
  'run', 'code', 'command', 'config', 'engine.asked', 'plan.asked', 'plan.reasons', 'plan.memoryTerms', 'probe', 'rungs', 'timings', 'idle', 'workers', 'batch',
  'tokens', 'outcomes', 'coverage', 'results', 'scores', 'requestFiles', 'identity', 'warnings', 'waivers', 'engine.effective.parallel.ranks.0.pid',
];

interface Change {
  modelArgs?: Record<string, unknown>;
  settings?: Record<string, unknown>;
  env?: Record<string, string>;
  /** The effective fields of the setting. */
  fields: string[];
  /** What cannot stay as it was then. */
  follows?: string[];
  /** The part of the run's identity that it belongs to, so that a run does not resume across it. */
  identity: 'semantic' | 'numeric';
}

const REQUESTS = ['prompts.digest', 'prompts.tokens', 'tasks.0.promptsDigest'];
const CHANGES: Record<string, Change> = {
  'the engine\'s seed': { modelArgs: { seed: 2 }, fields: ['engine.effective.numerics.seed', 'seeds.engine.value'], identity: 'numeric' },
  'the run\'s torch seed': {
    settings: { seed: [0, 1234, 77, 1234] }, fields: ['seeds.torch.value', 'seeds.request.value', 'engine.effective.runSeed'], identity: 'numeric',
  },
  'the order of the few-shot examples': {
    settings: { seed: [0, 1234, 1234, 77] }, fields: ['seeds.fewshot.value', 'tasks.0.fewshotDocs', 'tasks.0.fewshotRule'],
    follows: REQUESTS, identity: 'semantic',
  },
  'the chat template': {
    settings: { apply_chat_template: true }, fields: ['prompts.chatTemplate', 'prompts.chatTemplateDigest', 'prompts.fewshotAsMultiturn'],
    follows: [...REQUESTS, 'tasks.0.firstTokens'], identity: 'semantic',
  },
  dtype: {
    modelArgs: { dtype: 'float32' }, fields: ['engine.effective.numerics.dtype'],
    follows: ['engine.effective.cache.blocks', 'engine.effective.cache.tokens'], identity: 'numeric',
  },
  max_num_seqs: { modelArgs: { max_num_seqs: 8 }, fields: ['engine.effective.batching.maxNumSeqs', 'plan.maxNumSeqs'], identity: 'numeric' },
  max_num_batched_tokens: {
    modelArgs: { max_num_batched_tokens: 2048 }, fields: ['engine.effective.batching.maxNumBatchedTokens', 'plan.maxNumBatchedTokens'], identity: 'numeric',
  },
  enforce_eager: {
    modelArgs: { enforce_eager: false }, fields: ['engine.effective.numerics.enforceEager'],
    follows: ['engine.environment.TORCH_COMPILE_DISABLE', 'engine.effective.host.environment.TORCH_COMPILE_DISABLE'], identity: 'numeric',
  },
  'prefix caching': { modelArgs: { enable_prefix_caching: false }, fields: ['engine.effective.cache.prefixCaching'], identity: 'numeric' },
  'a variable of the engine': {
    env: { VLLM_CPU_ATTN_SPLIT_KV: '0' }, fields: ['engine.environment.VLLM_CPU_ATTN_SPLIT_KV', 'engine.effective.host.environment.VLLM_CPU_ATTN_SPLIT_KV'],
    identity: 'numeric',
  },
};

let base: Manifest;
let again: Manifest;
beforeAll(async () => {
  if (isReady) [base, again] = await Promise.all([seal('base', {}), seal('again', {})]);
});

/** Runs the base's settings with one change, and returns the manifest. */
async function seal(name: string, { modelArgs = {}, settings = {}, env = {} }: Pick<Change, 'modelArgs' | 'settings' | 'env'>): Promise<Manifest> {
  const file = world.writeConfig(`${name}.yaml`, { ...SETTINGS, ...settings, model_args: { ...MODEL_ARGS, ...modelArgs }, output_path: world.path(name) });
  const { exitCode, stderr } = await world.run(['run', '--config', file], env);
  expect(exitCode, stderr).toBe(0);
  return requireManifest(world.path(name));
}

function listChanges(manifest: Manifest): string[] {
  const changed = compareIdentities(byField(base), byField(manifest)).map(({ field }) => field);
  return changed.filter((field) => !NOT_EFFECTIVE.some((left) => field === left || field.startsWith(`${left}.`)));
}

/** Lists as mappings, so that a difference inside one is named by its place. Lists of plain values stay whole. */
function byField(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, byField(entry)]));
}

test('nothing effective differs between two runs of the same settings', () => {
  expect(listChanges(again)).toEqual([]);
  expect(again.identity).toEqual(base.identity);
});

test.concurrent.for(Object.entries(CHANGES))('%s changes its own effective field and nothing else', ([name, change]) => inLane(async () => {
  const changed = await seal(name.replace(/\W/g, '-'), change);
  expect(listChanges(changed)).toEqual([...change.fields, ...(change.follows ?? [])].toSorted());
  const parts = (['semantic', 'numeric'] as const).filter((part) => changed.identity[part].digest !== base.identity[part].digest);
  expect(parts).toEqual([change.identity]);
}));
