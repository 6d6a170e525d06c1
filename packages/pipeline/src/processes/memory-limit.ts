// limits.memory as it is enforced on each engine worker: by its own address space, or by a control group that it is started in.
import { type MemoryGroup, MemoryGroups } from '@assay/workers';
import type { RunContext } from '../run-context.ts';

export interface MemoryLimit {
  /** What each process of an engine may reserve; undefined where the kernel counts pages, or nothing is limited. */
  addressSpaceBytes: number | undefined;
  /** The group that the worker of this name is to be started in. */
  makeGroup(worker: string): MemoryGroup | undefined;
  /** After the last worker has ended. */
  close(): void;
}

/** Throws CGROUP_UNAVAILABLE, before any process is started. */
export function openMemoryLimit({ config: { limits }, run }: RunContext): MemoryLimit {
  const { memory: bytes, kind } = limits;
  if (bytes === undefined || kind !== 'cgroup') return { addressSpaceBytes: bytes, makeGroup: () => undefined, close: () => undefined };
  const groups = new MemoryGroups({ runId: run.header.id });
  return { addressSpaceBytes: undefined, makeGroup: (worker) => groups.make(worker, bytes), close: () => groups.close() };
}
