// How a model and its batches lie on the devices: the part of a plan that engines are told and people are shown.

export interface PlanLayout {
  device: 'cpu' | 'cuda';
  /** Replicas, each in a process of its own. */
  data: number;
  tensor: number;
  pipeline: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  maxModelLen: number;
  /** Of each rank. */
  kvCacheBytes: number;
  enforceEager: boolean;
  enablePrefixCaching: boolean;
  dtype: string;
  threadsPerWorker: number;
  /** Cores of each replica; empty where they are left to the system. */
  cpuSets: number[][];
  /** Device ids of each replica, empty on CPU. */
  deviceSets: string[][];
  /** Memory that one rank may take: the limit asked for, else its share of what there is. */
  memoryLimitBytes: number;
  /** One sentence for every decision that was not the user's. */
  why: string[];
}
