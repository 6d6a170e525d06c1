// Element types by the names of config.json, safetensors and vLLM, with their bytes.
import { AssayError } from '@assay/domain';

/** Bytes of one element, by safetensors' name. Packed 4-bit weights lie in I32 or U8 tensors, so these are exact on disk. */
export const TENSOR_DTYPE_BYTES: Readonly<Record<string, number>> = {
  F64: 8, F32: 4, BF16: 2, F16: 2, F8_E4M3: 1, F8_E5M2: 1, F8_E8M0: 1, I64: 8, I32: 4, I16: 2, I8: 1, U64: 8, U32: 4, U16: 2, U8: 1, BOOL: 1,
};

/** Element types that the engine casts to the run's own; the others are stored as they are. */
export const FLOAT_TENSOR_DTYPES: ReadonlySet<string> = new Set(['F64', 'F32', 'BF16', 'F16']);

const RUN_DTYPES = ['float32', 'bfloat16', 'float16'] as const;
export type RunDtype = (typeof RUN_DTYPES)[number];

export const RUN_DTYPE_BYTES: Readonly<Record<RunDtype, number>> = { float32: 4, bfloat16: 2, float16: 2 };

const ALIASES: Readonly<Record<string, RunDtype>> = {
  float32: 'float32', float: 'float32', bfloat16: 'bfloat16', float16: 'float16', half: 'float16',
};

/** vLLM's dtype argument, also as "torch.bfloat16"; undefined for "auto" and for what it does not know. */
export function parseRunDtype(name: unknown): RunDtype | undefined {
  return typeof name === 'string' ? ALIASES[name.replace(/^torch\./, '').toLowerCase()] : undefined;
}

/** The type the engine will run in: "auto" is the checkpoint's own, but for float32, which vLLM runs in 16 bit. */
export function resolveDtype(asked: unknown, facts: { dtype: RunDtype }): RunDtype {
  if (asked === undefined || asked === null || asked === 'auto') return facts.dtype === 'float32' ? 'bfloat16' : facts.dtype;
  const dtype = parseRunDtype(asked);
  if (dtype) return dtype;
  throw new AssayError('CONFIG_VALUE', { place: 'model_args', key: 'dtype', problem: `"${String(asked)}" is not one of auto, ${RUN_DTYPES.join(', ')}` });
}
