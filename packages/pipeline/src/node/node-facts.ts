// What this node has for a run: the cores this process may use, memory it can still give, GPUs. Read, never guessed.
import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { KIB } from '@assay/domain';
import type { NodeFacts } from '@assay/planner';
import { findCompiler } from './compiler.ts';
import { type GroupLimits, readGroupLimits } from './control-group.ts';
import { surveyGpus } from './gpu-devices.ts';
import { isOwnProcess } from './own-processes.ts';
import { countNumaNodes, readAllowedCpus, readInstructionSets } from './processor-facts.ts';
import { readText } from './read-text.ts';

const SMI_TIMEOUT_MS = 20_000;

interface ReadOptions {
  /** Longest wait for each answer of the GPU driver. */
  smiTimeoutMs?: number;
}

/** Throws DEVICE_UNKNOWN where CUDA_VISIBLE_DEVICES is wrong. */
export async function readNodeFacts(env: Readonly<Record<string, string | undefined>>, { smiTimeoutMs = SMI_TIMEOUT_MS }: ReadOptions = {}): Promise<NodeFacts> {
  const [survey, shmBytes] = await Promise.all([surveyGpus({ env, timeoutMs: smiTimeoutMs, isOwn: isOwnProcess }), readSharedMemory()]);
  const group = readGroupLimits();
  const cpus = readAllowedCpus();
  const compiler = findCompiler(env);
  return {
    cpus,
    memoryBytes: readAvailableMemory(group),
    ...survey,
    ...(shmBytes === undefined ? {} : { shmBytes }),
    instructionSets: readInstructionSets(),
    numaNodes: countNumaNodes(cpus),
    ...(compiler === undefined ? {} : { compiler }),
    cgroup: { ...(group.memoryBytes === undefined ? {} : { memoryBytes: group.memoryBytes }), ...(group.cpus === undefined ? {} : { cpus: group.cpus }) },
  };
}

/** What the kernel says is available, or what the control group leaves of its limit where that is less. */
function readAvailableMemory({ freeBytes = Infinity }: GroupLimits): number {
  const available = Number(/^MemAvailable:\s*(\d+)/m.exec(readText('/proc/meminfo'))?.[1] ?? 0) * KIB || freemem();
  return Math.min(available, freeBytes);
}

async function readSharedMemory(): Promise<number | undefined> {
  const stats = await statfs('/dev/shm').catch(() => undefined);
  return stats && stats.bavail * stats.bsize;
}
