// Which engine computed, with what in force: its own words and, apart from them, what was asked for.
import { redactSecrets, type RunConfig } from '@assay/domain';
import type { ManifestInput } from '@assay/protocol';
import type { EngineRecord } from '../records/engine-record.ts';
import { describeDevice } from './device.ts';

/** Variables that follow from the layout, or name a place of this machine: a run resumes on other devices. */
const LAYOUT_VARIABLES = /^(OMP_NUM_THREADS|VLLM_CPU_(KVCACHE_SPACE|OMP_THREADS_BIND)|ASSAY_CPU_AFFINITY|CUDA_VISIBLE_DEVICES|NVIDIA_\w+|LD_PRELOAD)$/;

export function describeEngine({ asked, hello, loaded: { effective } }: EngineRecord): ManifestInput['engine'] {
  const packages = { ...hello.packages, ...effective.host.libraries };
  const name = effective.engine;
  return {
    name,
    version: packages[name] ?? packages['vllm-cpu'] ?? (effective.simulated ? 'simulated' : 'unknown'),
    python: hello.python,
    packages,
    asked,
    effective,
    environment: effective.host.environment,
  };
}

/** What decides the bits, for the comparison of two runs: everything numeric that the engine reported. */
export function describeNumerics(config: RunConfig, record: EngineRecord): Record<string, unknown> {
  const { loaded: { effective: { numerics, batching, cache, host, runSeed } }, plan } = record;
  return {
    ...numerics,
    ...batching,
    determinism: plan.determinism,
    scoring: config.scoring,
    tensor: plan.tensor,
    pipeline: plan.pipeline,
    prefixCaching: cache.prefixCaching,
    runSeed,
    // Replicas share the cores in `fast`, so there their number shows in the threads and is left out.
    ...(plan.determinism === 'fast' ? {} : { threads: plan.threadsPerWorker }),
    libraries: host.libraries,
    environment: redactSecrets(Object.fromEntries(Object.entries(host.environment).filter(([name]) => !LAYOUT_VARIABLES.test(name)))),
    device: describeDevice(record).name,
  };
}
