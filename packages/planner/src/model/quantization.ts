// How a checkpoint is quantised, from config.json's quantization_config, and which block sizes a tensor cut must respect.
import { z } from 'zod';

export interface Quantization {
  /** gptq, awq, fp8, compressed-tensors, bitsandbytes, … as the file names it. */
  method: string;
  /** Of one weight, without its scale. */
  bits?: number;
  /** Weights that share a scale along the input dimension. */
  groupSize?: number;
  /** Rows and columns of a block that shares a scale. */
  blockShape?: [number, number];
  /** Weights that share a scale in the flattened matrix; a cut along rows never splits one. */
  flatBlock?: number;
}

/** What the methods that state no bits use. bitsandbytes keeps one scale for 64 weights in 4 bit, none that counts in 8. */
const METHOD_DEFAULTS: Readonly<Record<string, Omit<Quantization, 'method'>>> = {
  fp8: { bits: 8 }, fbgemm_fp8: { bits: 8 }, mxfp4: { bits: 4, groupSize: 32 },
};
const BITSANDBYTES_BLOCK = 64;
const SCALE_BITS = 16;
const BLOCK_SCALE_BITS = 32;

const positive = z.int().positive();
const pair = z.tuple([positive, positive]);
// "128x128" in older files.
const blockStructure = z.union([pair, z.string().regex(/^\d+x\d+$/).transform((text) => text.split('x').map(Number)).pipe(pair)]);
// −1 stands for one scale a column: nothing for a cut to split.
const groupSize = positive.nullish().catch(undefined);
const sourceSchema = z.object({
  quant_method: z.string().optional(),
  bits: positive.optional().catch(undefined), w_bit: positive.optional().catch(undefined),
  group_size: groupSize, q_group_size: groupSize,
  weight_block_size: pair.nullish().catch(undefined),
  load_in_4bit: z.boolean().optional().catch(undefined), _load_in_4bit: z.boolean().optional().catch(undefined),
  load_in_8bit: z.boolean().optional().catch(undefined), _load_in_8bit: z.boolean().optional().catch(undefined),
  config_groups: z.record(z.string(), z.object({
    weights: z.object({ num_bits: positive.nullish(), group_size: groupSize, block_structure: blockStructure.nullish().catch(undefined) }).nullish(),
  })).optional().catch(undefined),
});

export function parseQuantization(source: unknown): Quantization | undefined {
  const parsed = sourceSchema.safeParse(source);
  if (!parsed.success) return undefined;
  const { quant_method: method = 'unknown', config_groups: groups, ...file } = parsed.data;
  // Where groups of layers differ, the widest stands for all: memory is never taken for less than it is.
  const weights = Object.values(groups ?? {}).flatMap((group) => group.weights ?? []).toSorted((a, b) => (b.num_bits ?? 0) - (a.num_bits ?? 0))[0];
  const isFourBit = file.load_in_4bit ?? file._load_in_4bit;
  const bitsOfFlags = isFourBit ? 4 : (file.load_in_8bit ?? file._load_in_8bit) ? 8 : undefined;
  const defaults = METHOD_DEFAULTS[method];
  const found = {
    bits: file.bits ?? file.w_bit ?? weights?.num_bits ?? bitsOfFlags ?? defaults?.bits,
    groupSize: file.group_size ?? file.q_group_size ?? weights?.group_size ?? defaults?.groupSize,
    blockShape: file.weight_block_size ?? weights?.block_structure,
    flatBlock: method === 'bitsandbytes' && isFourBit ? BITSANDBYTES_BLOCK : undefined,
  };
  const known = Object.entries(found).filter(([, value]) => value !== undefined && value !== null);
  return { method, ...Object.fromEntries(known) };
}

/**
 * Bits that one weight takes on disk and on the device, its share of scale and zero point included: a 16-bit scale and a zero
 * point of the weights' own width a group (GPTQ, AWQ), a 32-bit scale a block (fp8, bitsandbytes).
 */
export function storedBits({ bits, groupSize: group, blockShape, flatBlock }: Quantization): number | undefined {
  if (bits === undefined) return undefined;
  if (group !== undefined) return bits + (SCALE_BITS + bits) / group;
  const block = blockShape ? blockShape[0] * blockShape[1] : flatBlock;
  return block === undefined ? bits : bits + BLOCK_SCALE_BITS / block;
}
