// What an engine said of itself after a load, for tests of what is made of it.
import type { Effective, Rank } from '@assay/protocol';

const DIGEST = 'a'.repeat(64);

type VllmEffective = Extract<Effective, { engine: 'vllm' }>;

export function buildSampleRank(fields: Partial<Rank> = {}): Rank {
  return {
    rank: 0, pid: 4712, layers: [0, 1], heads: [9], kvHeads: [3], device: 'cpu', deviceName: null, deviceBytes: null, runtime: null,
    attentionBackends: ['CPU_ATTN'], modelRunner: 'vllm.v1.worker.cpu_model_runner.CPUModelRunner', threads: 1, affinity: [0], ...fields,
  };
}

interface Sample {
  ranks?: Rank[];
  /** Rows of nvidia-smi. */
  devices?: Record<string, string>[];
}

export function buildSampleEffective({ ranks = [buildSampleRank()], devices = [] }: Sample = {}): VllmEffective {
  return {
    engine: 'vllm',
    simulated: false,
    model: {
      model: '/models/smollm2', architectures: ['LlamaForCausalLM'], revision: null, tokenizer: '/models/smollm2', tokenizerMode: 'auto', trustRemoteCode: false,
      generationConfig: 'vllm', vocabSize: 49_152,
      digests: { modelPath: '/models/smollm2', weights: { 'model.safetensors': DIGEST }, configDigest: DIGEST, tokenizerFiles: { 'tokenizer.json': DIGEST } },
    },
    numerics: {
      dtype: 'bfloat16', quantization: null, kvCacheDtype: 'auto', seed: 1234, enforceEager: true, compilationMode: 'NONE', cudagraphMode: 'NONE', compilationBackend: '',
      attentionBackends: ['CPU_ATTN'], modelRunner: 'vllm.v1.worker.cpu_model_runner.CPUModelRunner', logprobsMode: 'raw_logprobs', speculative: false,
    },
    batching: { maxModelLen: 2048, maxNumSeqs: 8, maxNumBatchedTokens: 2048, chunkedPrefill: true, asyncScheduling: false, policy: 'fcfs' },
    cache: { prefixCaching: true, blockSize: 32, blocks: 1456, tokens: 46_592, memoryBytes: null, memoryUtilization: 0.9 },
    parallel: { tensor: ranks.length, pipeline: 1, executor: ranks.length > 1 ? 'mp' : 'uni', ranks },
    host: {
      python: '3.11.7', platform: 'Linux', libraries: { vllm: '0.32.0' }, processor: { model: 'A processor', machine: 'x86_64', count: 2, flags: ['avx2'] },
      affinity: [0, 1], devices, environment: { OMP_NUM_THREADS: '1' },
    },
    corrections: [],
    determinism: 'fast',
    scoring: 'exact',
    runSeed: 1234,
  };
}
