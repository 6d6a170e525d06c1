// vLLM's EngineArgs and environment for a plan. The user's model_args win over what the plan would choose, since the plan was
// made from them; what lm_eval's backend keeps for itself never reaches the engine.
import { AssayError } from '@assay/domain';
import type { Plan } from '../plan.ts';

/** Arguments of lm_eval's vLLM backend that the engine does not know, and what becomes of each. */
const HARNESS_MODEL_ARGS: Readonly<Record<string, string>> = {
  pretrained: 'the model',
  max_gen_toks: 'the budget of tasks that set none',
  add_bos_token: 'tokenisation',
  prefix_token_id: 'tokenisation of empty contexts',
  truncation_side: 'cutting of prompts longer than the window',
  think_end_token: 'cut from answers',
  enable_thinking: 'the chat template',
  chat_template_args: 'the chat template',
  max_length: 'max_model_len',
  data_parallel_size: 'plan.data: replicas in processes of their own',
  batch_size: 'nothing; the engine batches by itself, and 1 selects determinism: isolated',
  max_batch_size: 'max_num_seqs',
  device: 'nothing; the planner finds the devices',
  swap_space: 'nothing; the engine has none any more',
  parallelize: 'nothing; the planner lays the model over the devices',
};

const REFUSED_MODEL_ARGS: Readonly<Record<string, { reason: string; instead: string }>> = {
  lora_local_path: { reason: 'adapters are not applied yet', instead: 'Merge the adapter into the weights first.' },
};

/** What lm_eval's backend passes where the user says nothing. */
const DEFAULTS = { revision: null, tokenizer: null, tokenizer_mode: 'auto', tokenizer_revision: null, quantization: null, seed: 1234 } as const;

interface EngineArgsOptions {
  /** The model's folder or hub id, resolved. */
  model: string;
  trustRemoteCode: boolean;
  /** Of the smallest GPU; undefined on CPU. */
  deviceMemoryBytes?: number | undefined;
}

/** Throws FLAG_REFUSED for an argument that would change scores and is not applied. Names the engine lacks it refuses itself. */
export function engineArgsOf(plan: Plan, modelArgs: Readonly<Record<string, unknown>>, { model, trustRemoteCode, deviceMemoryBytes }: EngineArgsOptions): Record<string, unknown> {
  for (const [name, refusal] of Object.entries(REFUSED_MODEL_ARGS)) {
    if (modelArgs[name]) throw new AssayError('FLAG_REFUSED', { flag: `model_args ${name}`, ...refusal });
  }
  const passed = Object.entries(modelArgs).filter(([name]) => !(name in HARNESS_MODEL_ARGS) && !(name in REFUSED_MODEL_ARGS));
  const asked = { ...DEFAULTS, ...Object.fromEntries(passed) };
  return dropEmpty({
    ...asked,
    model,
    trust_remote_code: trustRemoteCode || modelArgs.trust_remote_code === true,
    // The plan has read every wish of these names already.
    dtype: plan.dtype,
    tensor_parallel_size: plan.tensor,
    pipeline_parallel_size: plan.pipeline,
    max_model_len: plan.maxModelLen,
    max_num_seqs: plan.maxNumSeqs,
    max_num_batched_tokens: plan.maxNumBatchedTokens,
    enforce_eager: plan.enforceEager,
    enable_prefix_caching: plan.enablePrefixCaching,
    // The engine refuses to start where less than this share is free; its own default is more than others may leave.
    ...(deviceMemoryBytes === undefined ? {} : { gpu_memory_utilization: Math.floor((1000 * plan.memoryLimitBytes) / deviceMemoryBytes) / 1000 }),
    kv_cache_memory_bytes: plan.isCacheLeftToEngine ? null : plan.kvCacheBytes,
    distributed_executor_backend: plan.tensor * plan.pipeline > 1 ? (modelArgs.distributed_executor_backend ?? 'mp') : modelArgs.distributed_executor_backend,
  });
}

function dropEmpty(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== 'None'));
}

// Each thread that allocates would reserve arenas of its own: as many as their timing brings, up to half a gibibyte of address
// space that differs from run to run. Two were measured to cost no time.
const MALLOC_ARENAS = '2';
// glibc before 2.39 takes an aligned buffer, as torch's all are, from a larger piece and puts what is left in front of it into the
// thread's cache, where nothing joins it again (its bug 30723): the place of a freed buffer is too small for the next of its size.
// Up to 0.9 GiB more than a probe had shown were held so after some steps of a run. Without that cache nothing is, at no cost in time.
const TUNABLES = 'glibc.malloc.tcache_count=0';

interface CpuProcess extends Pick<Plan, 'threadsPerWorker'> {
  /** The user's own GLIBC_TUNABLES, which stay; on the same subject they win. */
  tunables?: string | undefined;
}

/** What a process of engines on CPU has in its environment from its first instruction. */
export function cpuProcessEnvOf({ threadsPerWorker, tunables }: CpuProcess): Record<string, string> {
  return { OMP_NUM_THREADS: String(threadsPerWorker), MALLOC_ARENA_MAX: MALLOC_ARENAS, GLIBC_TUNABLES: tunables ? `${TUNABLES}:${tunables}` : TUNABLES };
}

/** Environment of one replica's process, set before the engine is imported. */
export function engineEnvOf(plan: Plan, replica = 0): Record<string, string> {
  const common = { VLLM_ENABLE_V1_MULTIPROCESSING: '0' };
  if (plan.device === 'cuda') return { ...common, CUDA_VISIBLE_DEVICES: (plan.deviceSets[replica] ?? []).join(',') };
  return {
    ...common,
    VLLM_CPU_OMP_THREADS_BIND: bindThreads(plan, plan.cpuSets[replica] ?? []),
    OMP_NUM_THREADS: String(plan.threadsPerWorker),
    // Eager for vLLM is its model only: single functions would still be compiled, by a C++ compiler that need not be there.
    ...(plan.enforceEager ? { TORCH_COMPILE_DISABLE: '1' } : {}),
  };
}

// One rank: affinity comes from outside, since binding an engine to one core by itself makes it eight times slower.
// Several ranks: vLLM demands one set of cores for each.
function bindThreads({ tensor, pipeline, threadsPerWorker }: Plan, cores: readonly number[]): string {
  const ranks = tensor * pipeline;
  if (ranks === 1 || cores.length === 0) return 'nobind';
  // More ranks than cores: the first cores serve one rank each, the last serves the rest ("0|1|1").
  const coreAt = (place: number) => cores[Math.min(place, cores.length - 1)];
  return Array.from({ length: ranks }, (_, rank) =>
    [...new Set(Array.from({ length: threadsPerWorker }, (_unused, thread) => coreAt(rank * threadsPerWorker + thread)))].join(',')).join('|');
}
