// What this machine has: processors, memory, devices, disk. Facts only; diagnose.ts says what they mean.
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

export interface MachineFacts {
  node: string;
  platform: string;
  cpus: { count: number; model: string };
  memoryBytes: number;
  diskFreeBytes: number;
  gpus: { name: string; memoryBytes: number; driver: string }[];
}

const TOOL_TIMEOUT_MS = 20_000;
const MIB = 2 ** 20;

export async function probeMachine(home: string): Promise<MachineFacts> {
  return {
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    cpus: { count: availableParallelism(), model: cpus()[0]?.model.trim() ?? 'unknown' },
    memoryBytes: usableMemory(),
    diskFreeBytes: await freeBytesNear(home),
    gpus: await listGpus(),
  };
}

/** A container's limit where there is one. Without one, Node answers 0 or a number no machine has. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

async function freeBytesNear(path: string): Promise<number> {
  const stats = await statfs(path).catch(() => undefined);
  if (stats) return stats.bavail * stats.bsize;
  return dirname(path) === path ? 0 : freeBytesNear(dirname(path));
}

async function listGpus(): Promise<MachineFacts['gpus']> {
  const output = await askTool('nvidia-smi', ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader,nounits']);
  if (output === undefined) return [];
  return output.split('\n').filter((line) => line.includes(',')).map((line) => {
    const [name = '', mebibytes = '0', driver = ''] = line.split(',').map((part) => part.trim());
    return { name, memoryBytes: Number(mebibytes) * MIB, driver };
  });
}

/** What a tool prints, or undefined where it is missing, fails or takes too long. */
export async function askTool(tool: string, args: readonly string[], env: Record<string, string | undefined> = process.env): Promise<string | undefined> {
  return promisify(execFile)(tool, [...args], { timeout: TOOL_TIMEOUT_MS, env: env as NodeJS.ProcessEnv }).then(({ stdout }) => stdout, () => undefined);
}
