// Which GPUs are linked directly, and which NUMA node each lies on, from the matrix that `nvidia-smi topo -m` draws.
import { nonEmptyLines } from './gpu-rows.ts';

export interface GpuLinks {
  /** Numbers of the GPUs that it reaches over NVLink, by its own number. */
  peers: ReadonlyMap<number, number[]>;
  numaNodes: ReadonlyMap<number, number>;
}

// oxlint-disable-next-line no-control-regex -- the heading is underlined by an escape sequence, also where the output is no terminal
const ESCAPES = /\u001B\[[\d;]*m/g;

export function parseTopology(text: string): GpuLinks {
  const lines = nonEmptyLines(text.replace(ESCAPES, ''));
  const heading = lines.find((line) => /^\s/.test(line) && /\bGPU0\b/.test(line));
  const columns = splitRow(heading ?? '');
  const peers = new Map<number, number[]>();
  const numaNodes = new Map<number, number>();
  for (const line of lines) {
    const [name = '', ...cells] = splitRow(line);
    const own = numberOf(name);
    if (own === undefined || line === heading) continue;
    peers.set(own, cells.flatMap((cell, place) => (/^NV\d+$/.test(cell) ? numberOf(columns[place + 1] ?? '') ?? [] : [])));
    const numa = cells[columns.indexOf('NUMA Affinity') - 1] ?? '';
    if (/^\d+$/.test(numa)) numaNodes.set(own, Number(numa));
  }
  return { peers, numaNodes };
}

/** The first cell of the heading is empty; rows carry two tabs before the last column. */
const splitRow = (line: string): string[] => line.split('\t').map((cell) => cell.trim());

function numberOf(name: string): number | undefined {
  const number = /^GPU(\d+)$/.exec(name)?.[1];
  return number === undefined ? undefined : Number(number);
}
