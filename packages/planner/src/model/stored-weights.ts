// The weights of a checkpoint: exact from the safetensors headers, or from the shape where no file is at hand.
import { RUN_DTYPE_BYTES, type RunDtype } from './dtypes.ts';
import type { ParameterCount } from './parameter-count.ts';
import { type Quantization, storedBits } from './quantization.ts';
import type { SafetensorsHeader } from './safetensors-header.ts';

export interface StoredWeights {
  parameters: number;
  /** Bytes as stored, by safetensors' element type. */
  weightBytesByDtype: Readonly<Record<string, number>>;
  weightBytes: number;
}

// What lies beside quantised weights: scales, zero points, orders and shapes. Bytes, but no parameters.
const NO_PARAMETERS = /(^|[._])(scales?|scale_inv|qzeros|zero_point|g_idx|shape|absmax|quant_map|SCB|bitsandbytes__\w+)$/;
const PACKED_NAME = /(qweight|weight|weight_packed|_blocks)$/;
const PACKED_DTYPE_BITS: Readonly<Record<string, number>> = { I32: 32, U32: 32, U8: 8, I8: 8 };

interface HeaderSum {
  quantization: Quantization | undefined;
  /** Layers that the engine loads; those behind them predict further tokens and stay on disk. Undefined where there are none. */
  loadedLayers: number | undefined;
}

export function sumHeaders(headers: readonly SafetensorsHeader[], { quantization, loadedLayers = Infinity }: HeaderSum): StoredWeights {
  const weightBytesByDtype: Record<string, number> = {};
  const seen = new Set<string>();
  let parameters = 0;
  let weightBytes = 0;
  for (const header of headers) {
    for (const [name, tensor] of Object.entries(header)) {
      // Some repositories hold the same tensors twice, in shards and in one consolidated file.
      if (seen.has(name) || Number(/^model\.layers\.(\d+)\./.exec(name)?.[1] ?? 0) >= loadedLayers) continue;
      seen.add(name);
      weightBytesByDtype[tensor.dtype] = (weightBytesByDtype[tensor.dtype] ?? 0) + tensor.bytes;
      weightBytes += tensor.bytes;
      parameters += countElements(name, tensor, quantization);
    }
  }
  return { parameters, weightBytes, weightBytesByDtype };
}

function countElements(name: string, { dtype, shape }: SafetensorsHeader[string], quantization: Quantization | undefined): number {
  const elements = shape.reduce((product, size) => product * size, 1);
  if (quantization === undefined) return elements;
  if (NO_PARAMETERS.test(name)) return 0;
  const { bits } = quantization;
  const width = PACKED_DTYPE_BITS[dtype];
  return width !== undefined && bits !== undefined && PACKED_NAME.test(name) ? (elements * width) / bits : elements;
}

interface ShapeSum {
  quantization: Quantization | undefined;
  dtype: RunDtype;
}

const FLOAT_NAMES: Readonly<Record<RunDtype, string>> = { float32: 'F32', bfloat16: 'BF16', float16: 'F16' };

/** Where the files are elsewhere: the layers' matrices as quantised, all else in the checkpoint's type. */
export function sumShape({ total, matrices }: ParameterCount, { quantization, dtype }: ShapeSum): StoredWeights {
  const bits = quantization && storedBits(quantization);
  const packedBytes = bits === undefined ? 0 : Math.round((matrices * bits) / 8);
  const plainBytes = (bits === undefined ? total : total - matrices) * RUN_DTYPE_BYTES[dtype];
  const packed = packedBytes === 0 ? {} : { [quantization?.method === 'fp8' ? 'F8_E4M3' : 'U8']: packedBytes };
  return { parameters: total, weightBytes: packedBytes + plainBytes, weightBytesByDtype: { [FLOAT_NAMES[dtype]]: plainBytes, ...packed } };
}
