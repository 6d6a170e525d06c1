// What a node has for a run, as values: pipeline's node/ folder reads them, `--devices` states them. What nobody could tell is left out.

export interface GpuFacts {
  /** UUID or MIG id, as the driver names it; opaque, never taken for a number. */
  id: string;
  name: string;
  memoryBytes: number;
  freeBytes: number;
  /** A slice of a GPU: its memory and speed are the slice's own. */
  isMig?: boolean;
  /** CUDA's, as "9.0". */
  computeCapability?: string;
  /** Ids of the GPUs it reaches over NVLink. */
  nvlinkPeers?: readonly string[];
  numaNode?: number;
}

/** A device that is there and is not used, and why. */
export interface LeftOutDevice {
  id: string;
  name: string;
  why: string;
}

export interface NodeFacts {
  /** Numbers of the cores this process may use. */
  cpus: readonly number[];
  /** Memory that this node can still give. */
  memoryBytes: number;
  gpus: readonly GpuFacts[];
  leftOut?: readonly LeftOutDevice[];
  /** Free bytes of /dev/shm, through which the ranks of one engine talk. */
  shmBytes?: number;
  /** Those that matter to an engine on CPU, as the kernel spells them: avx2, avx512f, avx512_bf16, amx_bf16, … */
  instructionSets?: readonly string[];
  /** NUMA nodes that this process's cores lie on. */
  numaNodes?: number;
  /** Limits of the control group, where they are set. */
  cgroup?: { memoryBytes?: number; cpus?: number };
  /** Path of the C++ compiler that torch would take: compilation on CPU needs one. */
  compiler?: string;
  /** Version of the GPU driver. */
  driver?: string;
}

/** Cores whose time this process may use: a control group may be given less than what its affinity shows. */
export function countCores({ cpus, cgroup }: Pick<NodeFacts, 'cpus' | 'cgroup'>): number {
  const quota = cgroup?.cpus === undefined ? Infinity : Math.max(1, Math.floor(cgroup.cpus));
  return Math.max(1, Math.min(cpus.length, quota));
}
