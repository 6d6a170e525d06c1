// The small forms that every message and the manifest are made of.
import { z } from 'zod';

export const id = z.int().nonnegative();
export const count = z.int().nonnegative();
export const bytes = z.int().nonnegative();
export const seconds = z.number().nonnegative();
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const mapping = z.record(z.string(), z.unknown());
export const nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);
