// The header of a safetensors file: 8 bytes little-endian length, then JSON. It gives every tensor's exact bytes without
// reading the file.
import { AssayError } from '@assay/domain';
import { z } from 'zod';

const tensorSchema = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});

interface TensorFacts {
  dtype: string;
  shape: number[];
  bytes: number;
}

/** Tensors by name. */
export type SafetensorsHeader = Readonly<Record<string, TensorFacts>>;

const LENGTH_BYTES = 8;
// The format's own limit; a larger number is a damaged or foreign file.
const MAX_HEADER_BYTES = 100e6;

interface SafetensorsSource {
  /** Path of the file, for messages. */
  file: string;
  /** Size of the whole file. */
  fileBytes: number;
}

/** Bytes to read from the start of the file for `parseSafetensorsHeader`, given its first eight. Throws MODEL_BROKEN. */
export function headerBytesOf(start: Uint8Array, { file, fileBytes }: SafetensorsSource): number {
  if (start.byteLength < LENGTH_BYTES) throw broken(file, `only ${start.byteLength} bytes long`);
  const length = Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES || length + LENGTH_BYTES > fileBytes) {
    throw broken(file, `its header claims ${length} bytes, the file has ${fileBytes}`);
  }
  return LENGTH_BYTES + length;
}

/** Parses a file's first bytes and checks that its tensors fill the file exactly. Throws MODEL_BROKEN. */
export function parseSafetensorsHeader(start: Uint8Array, source: SafetensorsSource): SafetensorsHeader {
  const { file, fileBytes } = source;
  const bytes = headerBytesOf(start, source);
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(Buffer.from(start.subarray(LENGTH_BYTES, bytes)).toString('utf8')) as Record<string, unknown>;
  } catch (cause) {
    throw broken(file, 'its header is not JSON', cause);
  }
  const tensors: Record<string, TensorFacts> = {};
  let end = 0;
  for (const [name, value] of Object.entries(json)) {
    if (name === '__metadata__') continue;
    const parsed = tensorSchema.safeParse(value);
    if (!parsed.success) throw broken(file, `tensor ${name} has no dtype, shape and offsets`);
    const [from, to] = parsed.data.data_offsets;
    tensors[name] = { dtype: parsed.data.dtype, shape: parsed.data.shape, bytes: to - from };
    end = Math.max(end, to);
  }
  if (bytes + end !== fileBytes) throw broken(file, `${fileBytes} bytes where its header describes ${bytes + end}`);
  return tensors;
}

function broken(model: string, problem: string, cause?: unknown): AssayError {
  return new AssayError('MODEL_BROKEN', { model, problem, instead: 'Fetch the file again; its size or header is wrong.' }, { cause });
}
