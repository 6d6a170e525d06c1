// What people can change where a run does not fit, as changes of what is planned from. Each leaves the machine or the results less
// like what was asked for than the one before.
import { formatBytes, GIB } from '@assay/domain';
import { bindingLimit, type PlanBasis } from './plan-draft.ts';
import { quantizeFacts } from './weight-wishes.ts';

interface Change {
  text: string;
  /** It changes what is computed, and not only where. */
  isPrecision?: boolean;
  apply(basis: PlanBasis): PlanBasis | undefined;
}

/** Of what was asked for. */
const LAYOUT_CHANGES: readonly Change[] = [
  { text: 'with fewer replicas (plan data=1)', apply: (basis) => (basis.wishes.data !== undefined && basis.wishes.data > 1 ? { ...basis, wishes: { ...basis.wishes, data: 1 } } : undefined) },
  { text: 'with a layout of the planner\'s own (plan: auto)', apply: forgetLayout },
];

/** Of the machine, then of what is computed. */
const DEVICE_AND_PRECISION_CHANGES: readonly Change[] = [
  { text: 'with twice as many such devices', apply: (basis) => multiplyDevices(basis, 2) },
  { text: 'with four times as many such devices', apply: (basis) => multiplyDevices(basis, 4) },
  { isPrecision: true, text: 'in 16 bit (model_args dtype=bfloat16)', apply: halveFloats },
  { isPrecision: true, text: 'in 8 bit (model_args quantization=fp8)', apply: (basis) => quantize(basis, 'fp8') },
  { isPrecision: true, text: 'in 4 bit (model_args quantization=bitsandbytes)', apply: (basis) => quantize(basis, 'bitsandbytes') },
];

/** Room for the engine's own extra token and block rounding. */
const SPARE_TOKENS = 128;
const MORE_MEMORY = [1, 1.25, 1.5, 2, 3, 4] as const;

export function listChanges(basis: PlanBasis): Change[] {
  return [...listWindows(basis), ...LAYOUT_CHANGES, ...listLimits(basis), ...DEVICE_AND_PRECISION_CHANGES];
}

/** A window that no request fills is room for nothing. */
function listWindows({ input, wishes, workload }: PlanBasis): Change[] {
  const window = Math.ceil((workload.longestTokens + SPARE_TOKENS) / SPARE_TOKENS) * SPARE_TOKENS;
  if (window >= input.maxModelLen) return [];
  return [{ text: `with max_model_len=${window}, which no request exceeds`, apply: (basis) => ({ ...basis, input: { ...basis.input, maxModelLen: window }, wishes: { ...wishes, maxModelLen: window } }) }];
}

/** On CPU, in whole GiB: of a worker where limits.memory is what binds, as far as the node has them, else of the node. */
function listLimits({ device, input: { limits, node } }: PlanBasis): Change[] {
  if (device !== 'cpu') return [];
  const limit = bindingLimit({ limits, node });
  const base = limit ?? node.memoryBytes;
  const sizes = [...new Set(MORE_MEMORY.map((factor) => Math.ceil((base * factor) / GIB) * GIB))].filter((bytes) => bytes > base);
  return sizes.map((bytes) => (limit === undefined
    ? { text: `on a machine with ${formatBytes(bytes)} free`, apply: (basis) => ({ ...basis, input: { ...basis.input, node: { ...node, memoryBytes: bytes } } }) }
    : {
      text: `with limits.memory=${bytes / GIB}GiB`,
      apply: (basis) => (bytes > node.memoryBytes ? undefined : { ...basis, input: { ...basis.input, limits: { ...limits, memory: bytes } } }),
    }));
}

function forgetLayout(basis: PlanBasis): PlanBasis | undefined {
  const { data, tensor, pipeline, ...wishes } = basis.wishes;
  return data === undefined && tensor === undefined && pipeline === undefined ? undefined : { ...basis, wishes };
}

function multiplyDevices(basis: PlanBasis, times: number): PlanBasis | undefined {
  const { node } = basis.input;
  if (node.gpus.length === 0) return undefined;
  const gpus = Array.from({ length: node.gpus.length * times }, (_, place) => ({ ...node.gpus[place % node.gpus.length]!, id: `imagined-${place}` }));
  return { ...basis, input: { ...basis.input, node: { ...node, gpus } } };
}

function halveFloats(basis: PlanBasis): PlanBasis | undefined {
  return basis.dtype === 'float32' ? { ...basis, dtype: 'bfloat16' } : undefined;
}

function quantize(basis: PlanBasis, method: string): PlanBasis | undefined {
  const facts = quantizeFacts(basis.facts, method);
  return basis.device === 'cpu' || facts === basis.facts ? undefined : { ...basis, facts };
}
