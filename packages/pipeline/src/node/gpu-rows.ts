// Reads nvidia-smi's tables: one row a GPU (--query-gpu) and one row a process (--query-compute-apps), as csv without units.
import { MIB } from '@assay/domain';

/** compute_cap is last: drivers before 510 do not know the field, and are asked again without it. */
export const GPU_FIELDS = ['index', 'uuid', 'name', 'memory.total', 'memory.free', 'compute_mode', 'mig.mode.current', 'driver_version', 'compute_cap'] as const;
export const PROCESS_FIELDS = ['gpu_uuid', 'pid', 'process_name', 'used_memory'] as const;

export interface GpuRow {
  index: number;
  uuid: string;
  name: string;
  /** Undefined where the driver could not say: a lost or broken device. */
  memoryBytes: number | undefined;
  freeBytes: number | undefined;
  /** What stood in the place of its memory. */
  memoryText: string;
  computeMode: string;
  isMigEnabled: boolean;
  driver: string;
  computeCapability: string | undefined;
}

export interface GpuProcess {
  uuid: string;
  pid: number;
  name: string;
  /** Undefined in containers and for slices, where the driver does not tell. */
  usedBytes: number | undefined;
}

const UUID = /^(GPU|MIG)-[\w-]+/;

/** Rows that describe a GPU, and the lines that do not. Throws nothing: garbage is a line like any other. */
export function parseGpuRows(text: string): { rows: GpuRow[]; strangers: string[] } {
  const rows: GpuRow[] = [];
  const strangers: string[] = [];
  for (const line of nonEmptyLines(text)) {
    const [index = '', uuid = '', name = '', total = '', free = '', computeMode = '', mig = '', driver = '', capability] = splitCells(line);
    if (!/^\d+$/.test(index) || !UUID.test(uuid)) strangers.push(line);
    else {
      rows.push({
        index: Number(index), uuid, name, memoryBytes: readMib(total), freeBytes: readMib(free), memoryText: total, computeMode, driver,
        isMigEnabled: mig === 'Enabled', computeCapability: capability !== undefined && /^\d+\.\d+$/.test(capability) ? capability : undefined,
      });
    }
  }
  return { rows, strangers };
}

export function parseGpuProcesses(text: string): GpuProcess[] {
  return nonEmptyLines(text).flatMap((line) => {
    const cells = splitCells(line);
    // A name may hold commas: the ends of the row are sure.
    const [uuid = '', pid = '', used = ''] = [cells[0], cells[1], cells.at(-1)];
    if (!UUID.test(uuid) || !/^\d+$/.test(pid)) return [];
    return [{ uuid, pid: Number(pid), name: cells.slice(2, -1).join(', '), usedBytes: readMib(used) }];
  });
}

function readMib(cell: string): number | undefined {
  const number = /^(\d+)( MiB)?$/.exec(cell)?.[1];
  return number === undefined ? undefined : Number(number) * MIB;
}

const splitCells = (line: string): string[] => line.split(',').map((cell) => cell.trim());

export const nonEmptyLines = (text: string): string[] => text.split('\n').map((line) => line.trimEnd()).filter((line) => line.trim() !== '');
