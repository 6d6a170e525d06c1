// Hardware that is not here, from what `--devices` says: a number of devices of a published kind, cores, or a file of node facts.
import { AssayError, findNearest, GIB, parseBytes, suggestNearest } from '@assay/domain';
import { z } from 'zod';
import { DEVICE_KINDS, findDeviceKind } from './device-kinds.ts';
import type { NodeFacts } from './node-facts.ts';

const FORMS = 'expected such as 8xH100-80GB, cpu:16, cpu:16:64GiB or a node.json';
const SIZE_FORM = 'expected a size above 0 such as 80GB or 64GiB';
const MAX_DEVICES = 64;
const MAX_CORES = 1024;
const MOST_SHOWN = 60;
// What machines are usually rented with.
const CORES_PER_GPU = 8;
const CORE_MEMORY_BYTES = 4 * GIB;

/** Throws CONFIG_VALUE for a form or a kind that is not known. */
export function imagineNode(text: string): NodeFacts {
  const cores = /^cpu:(\d+)(?::(.+))?$/i.exec(text.trim());
  if (cores) return imagineCores(Number(cores[1]), cores[2]);
  const gpus = /^(\d+)\s*[x×*]\s*(\S+)$/i.exec(text.trim());
  if (gpus) return imagineGpus(Number(gpus[1]), gpus[2]!);
  if (DEVICE_KINDS.some(({ name }) => name.toLowerCase() === text.trim().toLowerCase())) return imagineGpus(1, text.trim());
  const near = findNearest(text.trim(), DEVICE_KINDS.map(({ name }) => name));
  throw refuse(`"${text}": ${FORMS}${near.length > 0 ? `; did you mean 1x${near.join(' or 1x')}?` : ''}`);
}

function imagineCores(count: number, memory: string | undefined): NodeFacts {
  requireCount(count, 'cores', MAX_CORES);
  const memoryBytes = memory === undefined ? count * CORE_MEMORY_BYTES : readSize(memory);
  if (memoryBytes === undefined || memoryBytes === 0) throw refuse(`"${memory}" for the memory of ${count} cores: ${SIZE_FORM}`);
  return { cpus: countUp(count), memoryBytes, gpus: [], compiler: 'assumed' };
}

function imagineGpus(count: number, kindName: string): NodeFacts {
  requireCount(count, 'devices', MAX_DEVICES);
  const { name, memoryBytes, link, capability } = findDeviceKind(kindName);
  const ids = countUp(count).map((number) => `${name}-${number}`);
  const gpus = ids.map((id) => ({
    id, name, memoryBytes, freeBytes: memoryBytes, computeCapability: (capability / 10).toFixed(1),
    ...(link.name === 'NVLink' ? { nvlinkPeers: ids.filter((other) => other !== id) } : {}),
  }));
  return { cpus: countUp(count * CORES_PER_GPU), memoryBytes: 2 * count * memoryBytes, gpus, compiler: 'assumed' };
}

function requireCount(count: number, what: string, most: number): void {
  if (count < 1 || count > most) throw refuse(`${count} ${what}; 1 to ${most} can be planned for`);
}

const refuse = (problem: string): AssayError => new AssayError('CONFIG_VALUE', { place: 'command line', key: '--devices', problem });

const countUp = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** Undefined for what is no size. */
function readSize(value: unknown): number | undefined {
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
  throw new AssayError('CONFIG_VALUE', { place: places.placeOf(issue.path), key: nameKey(issue.path), problem });
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
