// A file that states the facts of a node, for `--devices`: checked key by key, and refused with the line and column of what is wrong.
import { AssayError, parseBytes, suggestNearest } from '@assay/domain';
import { z } from 'zod';
import { DEVICES_REMEDY } from './device-kinds.ts';
import type { NodeFacts } from './node-facts.ts';

export const MAX_DEVICES = 64;
export const MAX_CORES = 1024;
export const SIZE_FORM = 'expected a size above 0 such as 80GB or 64GiB';
/** Characters of a value that a refusal quotes. */
const MOST_SHOWN = 60;

export const countUp = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** Undefined for what is no size. */
export function readSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  try {
    return typeof value === 'string' ? parseBytes(value) : undefined;
  } catch {
    return undefined;
  }
}

const sizeFrom = (least: 0 | 1) => z.unknown().transform((value, context) => {
  const size = readSize(value);
  if (size !== undefined && size >= least) return size;
  context.addIssue({ code: 'custom', message: least === 1 ? `${SIZE_FORM}, or a number of bytes` : 'expected a size such as 80GB or 64GiB, or a number of bytes' });
  return z.NEVER;
});
const [bytes, someBytes] = [sizeFrom(0), sizeFrom(1)];
/** A list in which nothing stands twice. */
function numbered<Schema extends z.ZodType>(schema: Schema, keyOf: (entry: z.output<Schema>) => unknown) {
  return z.array(schema).refine((entries) => new Set(entries.map(keyOf)).size === entries.length, 'the same device stands there twice');
}

const gpuSchema = z.strictObject({
  id: z.string().min(1), name: z.string(), memoryBytes: someBytes, freeBytes: bytes.optional(), isMig: z.boolean().optional(),
  computeCapability: z.string().optional(), nvlinkPeers: z.array(z.string()).optional(), numaNode: z.int().nonnegative().optional(),
});
const nodeSchema = z.strictObject({
  cpus: z.union([numbered(z.int().nonnegative(), (cpu) => cpu).min(1).max(MAX_CORES), z.int().positive().max(MAX_CORES).transform(countUp)], {
    error: `expected a number of cores, 1 to ${MAX_CORES}, or a list of their numbers, each once`,
  }),
  memoryBytes: someBytes,
  gpus: numbered(gpuSchema, ({ id }) => id).max(MAX_DEVICES).default([]),
  leftOut: z.array(z.strictObject({ id: z.string(), name: z.string(), why: z.string() })).optional(),
  shmBytes: bytes.optional(), instructionSets: z.array(z.string()).optional(), numaNodes: z.int().positive().optional(),
  cgroup: z.strictObject({ memoryBytes: bytes.optional(), cpus: z.number().positive().optional() }).optional(),
  compiler: z.string().optional(), driver: z.string().optional(),
});

/** Where a value, or a key, stands in the file: "node.json:3:7". */
interface Places {
  placeOf(path: readonly PropertyKey[]): string;
  placeOfKey(path: readonly PropertyKey[]): string;
}

/** `content` is the parsed file: the facts of a node as `assay doctor` and the manifest give them. Throws CONFIG_VALUE or CONFIG_UNKNOWN_KEY. */
export function parseNodeFacts(content: unknown, places: Places): NodeFacts {
  const parsed = nodeSchema.safeParse(content);
  if (parsed.success) return dropUndefined({ ...parsed.data, gpus: parsed.data.gpus.map((gpu) => ({ ...gpu, freeBytes: gpu.freeBytes ?? gpu.memoryBytes })) }) as NodeFacts;
  // A key that is spelt wrong also leaves its right one missing.
  const unknown = parsed.error.issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown) throw refuseKey([...unknown.path, unknown.keys[0]!], places);
  const issue = parsed.error.issues[0]!;
  const found = issue.path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], content);
  const problem = `${issue.message}, found ${found === undefined ? 'nothing' : JSON.stringify(found).slice(0, MOST_SHOWN)}`;
  throw new AssayError('CONFIG_VALUE', { place: places.placeOf(issue.path), key: nameKey(issue.path), problem, instead: DEVICES_REMEDY });
}

function refuseKey(path: readonly PropertyKey[], { placeOfKey }: Places): AssayError {
  const known = Object.keys((path[0] === 'gpus' ? gpuSchema : nodeSchema).shape);
  const key = nameKey(path);
  return new AssayError('CONFIG_UNKNOWN_KEY', { place: placeOfKey(path), key, nearest: suggestNearest(String(path.at(-1)), known, `Known keys: ${known.join(', ')}.`) });
}

const nameKey = (path: readonly PropertyKey[]): string => path.map(String).join('.') || 'the file';

function dropUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
