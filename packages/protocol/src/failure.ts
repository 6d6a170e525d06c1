// How a worker says that something went wrong: a class from one closed list, and the evidence.
import { z } from 'zod';

/**
 * Failure classes of an engine or a harness. `rung`: what another plan must do for it to go away, false where none helps (term: lower
 * the failing term; cache_room: let the KV cache hold more; start_share: ask for less at the start). `restart`: the process cannot go on. `retry`: a
 * fresh process under the same plan may well load, and is given the chance.
 */
export const FAILURE_CLASSES = {
  oom: { rung: 'term', restart: true, retry: false, remedy: 'a plan with fewer batched tokens or sequences' },
  startup_mem: { rung: 'start_share', restart: true, retry: false, remedy: 'free the device, or lower gpu_memory_utilization' },
  kv_zero: { rung: 'cache_room', restart: true, retry: false, remedy: 'more tensor ranks, a smaller model, or more memory' },
  kv_small: { rung: 'cache_room', restart: true, retry: false, remedy: 'lower max_model_len, or give the KV cache more memory' },
  arch: { rung: false, restart: true, retry: false, remedy: 'use a model whose architecture this version of the engine knows' },
  quant: { rung: false, restart: true, retry: false, remedy: 'use other weights: not quantised, or by a method that this device can run' },
  dtype: { rung: false, restart: true, retry: false, remedy: 'set dtype=half or dtype=float32 in model_args' },
  tokenizer: { rung: false, restart: true, retry: false, remedy: 'check the tokenizer files and the chat template' },
  heads: { rung: false, restart: true, retry: false, remedy: 'choose a tensor size that divides the attention heads' },
  request: { rung: false, restart: false, retry: false, remedy: 'correct the document or the generation parameters of that request' },
  engine: { rung: false, restart: true, retry: false, remedy: 'give the same command again; report it with the worker\'s log if it comes back' },
  hang: { rung: false, restart: true, retry: false, remedy: 'give the same command again; look at the device and its links if it comes back' },
  device: { rung: false, restart: true, retry: false, remedy: 'look at the driver and the device' },
  driver: { rung: false, restart: true, retry: false, remedy: 'install the driver that this build of the engine needs; `nvidia-smi` shows the one that is there' },
  port: { rung: false, restart: true, retry: true, remedy: 'look at what takes the ports of this machine; VLLM_PORT names where the engines\' own begin' },
  task: { rung: false, restart: false, retry: false, remedy: 'correct the task' },
  usage: { rung: false, restart: false, retry: false, remedy: 'correct the configuration' },
  unknown: { rung: false, restart: true, retry: false, remedy: 'look at the worker\'s log' },
} as const;
export type FailureClass = keyof typeof FAILURE_CLASSES;

/** `code` and `details` are set where the failure is one of the error table's; `where` names the memory term of an oom. */
export const failureSchema = z.strictObject({
  class: z.enum(Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]]),
  message: z.string(),
  where: z.enum(['weights', 'kv', 'activation', 'logits', 'graph']).optional(),
  allocationBytes: z.int().nonnegative().optional(),
  code: z.string().optional(),
  details: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});
export type Failure = z.output<typeof failureSchema>;
