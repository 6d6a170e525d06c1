// How a worker says that something went wrong: a class from one closed list, and the evidence.
import { z } from 'zod';

/** Failure classes of an engine or a harness. `rung`: a smaller plan may help. `restart`: the process cannot go on. */
export const FAILURE_CLASSES = {
  oom: { rung: true, restart: true, remedy: 'a plan with fewer batched tokens or sequences' },
  startup_mem: { rung: false, restart: true, remedy: 'free the device, or lower gpu_memory_utilization' },
  kv_zero: { rung: false, restart: true, remedy: 'more tensor ranks, a smaller model, or more memory' },
  kv_small: { rung: false, restart: true, remedy: 'lower max_model_len, or give the KV cache more memory' },
  arch: { rung: false, restart: true, remedy: 'use a model whose architecture this version of the engine knows' },
  quant: { rung: false, restart: true, remedy: 'use other weights: not quantised, or by a method that this device can run' },
  dtype: { rung: false, restart: true, remedy: 'set dtype=half or dtype=float32 in model_args' },
  tokenizer: { rung: false, restart: true, remedy: 'check the tokenizer files and the chat template' },
  heads: { rung: false, restart: true, remedy: 'choose a tensor size that divides the attention heads' },
  request: { rung: false, restart: false, remedy: 'correct the document or the generation parameters of that request' },
  engine: { rung: false, restart: true, remedy: 'give the same command again; report it with the worker\'s log if it comes back' },
  hang: { rung: false, restart: true, remedy: 'give the same command again; look at the device and its links if it comes back' },
  device: { rung: false, restart: true, remedy: 'look at the driver and the device' },
  driver: { rung: false, restart: true, remedy: 'install the driver that this build of the engine needs; `nvidia-smi` shows the one that is there' },
  task: { rung: false, restart: false, remedy: 'correct the task' },
  usage: { rung: false, restart: false, remedy: 'correct the configuration' },
  unknown: { rung: false, restart: true, remedy: 'look at the worker\'s log' },
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
