// How a checkpoint is quantised, from config.json's quantization_config, and which block sizes a tensor cut must respect.
import { z } from 'zod';

export interface Quantization {
  /** gptq, awq, fp8, compressed-tensors, bitsandbytes, … as the file names it. */
  method: string;
  bits?: number;
  /** Weights that share a scale along the input dimension. */
  groupSize?: number;
  /** Rows and columns of a block that shares a scale. */
  blockShape?: [number, number];
}

const positive = z.int().positive();
const sourceSchema = z.object({
  quant_method: z.string().optional(),
  bits: positive.optional().catch(undefined),
  group_size: positive.optional().catch(undefined),
  weight_block_size: z.tuple([positive, positive]).optional().catch(undefined),
  load_in_4bit: z.boolean().optional().catch(undefined),
  load_in_8bit: z.boolean().optional().catch(undefined),
  config_groups: z.record(z.string(), z.object({
    weights: z.object({ num_bits: positive.nullish(), group_size: positive.nullish().catch(undefined), block_structure: z.tuple([positive, positive]).nullish().catch(undefined) }).nullish(),
  })).optional().catch(undefined),
});

export function parseQuantization(source: unknown): Quantization | undefined {
  const parsed = sourceSchema.safeParse(source);
  if (!parsed.success) return undefined;
  const { quant_method, bits, group_size, weight_block_size, load_in_4bit, load_in_8bit, config_groups } = parsed.data;
  const weights = Object.values(config_groups ?? {}).find((group) => group.weights)?.weights;
  const found = {
    bits: bits ?? weights?.num_bits ?? (load_in_4bit ? 4 : undefined) ?? (load_in_8bit || quant_method === 'fp8' ? 8 : undefined),
    groupSize: group_size ?? weights?.group_size,
    blockShape: weight_block_size ?? weights?.block_structure,
  };
  const known = Object.entries(found).filter(([, value]) => value !== undefined && value !== null);
  return { method: quant_method ?? 'unknown', ...Object.fromEntries(known) };
}
