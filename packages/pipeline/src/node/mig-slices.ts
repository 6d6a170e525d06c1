// Slices of GPUs (MIG). Their ids come from `nvidia-smi -L`, their memory and processes from `nvidia-smi -q -x`, which does not
// name the ids; both number the slices of a GPU alike.
import { MIB } from '@assay/domain';
import { nonEmptyLines } from './gpu-rows.ts';

interface ListedSlice {
  /** Of the GPU it is a part of. */
  parent: string;
  id: string;
  /** As the driver names it: 1g.10gb, 3g.40gb, 1c.2g.20gb, … */
  profile: string;
  /** Its number on its GPU. */
  place: number;
}

/** Slices in the order of `nvidia-smi -L`. */
export function parseMigList(text: string): ListedSlice[] {
  let parent = '';
  return nonEmptyLines(text).flatMap((line) => {
    const gpu = /^GPU \d+: .*\(UUID: (GPU-[\w-]+)\)/.exec(line)?.[1];
    if (gpu !== undefined) parent = gpu;
    const [, profile, place, id] = /^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (MIG-[\w/-]+)\)/.exec(line) ?? [];
    return id === undefined || profile === undefined ? [] : [{ parent, id, profile, place: Number(place) }];
  });
}

export interface SliceState {
  parent: string;
  place: number;
  memoryBytes: number;
  freeBytes: number;
  processes: { pid: number; name: string }[];
}

/** Memory and processes of every slice. */
export function parseMigStates(xml: string): SliceState[] {
  return sectionsOf(xml, 'gpu').flatMap((gpu) => {
    const parent = textOf(gpu, 'uuid') ?? '';
    const processes = sectionsOf(gpu, 'process_info');
    return sectionsOf(gpu, 'mig_device').flatMap((slice) => {
      const memory = sectionsOf(slice, 'fb_memory_usage')[0] ?? '';
      const [total, free] = [mibOf(memory, 'total'), mibOf(memory, 'free')];
      if (total === undefined || free === undefined) return [];
      const isInside = (process: string) => ['gpu_instance_id', 'compute_instance_id'].every((tag) => textOf(process, tag) === textOf(slice, tag));
      return [{
        parent, place: Number(textOf(slice, 'index')), memoryBytes: total, freeBytes: free,
        processes: processes.filter(isInside).map((process) => ({ pid: Number(textOf(process, 'pid')), name: textOf(process, 'process_name') ?? '' })),
      }];
    });
  });
}

function sectionsOf(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}(?: [^>]*)?>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, inner = '']) => inner);
}

function textOf(xml: string, tag: string): string | undefined {
  return sectionsOf(xml, tag)[0]?.trim();
}

function mibOf(xml: string, tag: string): number | undefined {
  const number = /^(\d+) MiB$/.exec(textOf(xml, tag) ?? '')?.[1];
  return number === undefined ? undefined : Number(number) * MIB;
}
