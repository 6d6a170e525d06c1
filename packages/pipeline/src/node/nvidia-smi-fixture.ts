// A stand-in for nvidia-smi, written into a folder for PATH. It answers the queries that the real one answers, field by field
// and in its formats (drivers 535 to 560), from a description of the node.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface StandInGpu {
  uuid: string;
  name?: string;
  totalMib?: number | string;
  freeMib?: number | string;
  computeMode?: string;
  /** Profile, id and MiB of each slice; an empty list is MIG mode without any. */
  slices?: { profile: string; uuid: string; totalMib: number; freeMib: number; instance: number }[];
  numa?: number;
}

interface StandInProcess {
  uuid: string;
  pid: number;
  name: string;
  usedMib?: number;
  /** GPU instance of a slice. */
  instance?: number;
}

interface StandIn {
  gpus: StandInGpu[];
  processes?: StandInProcess[];
  /** The cell between each two GPUs. */
  link?: string;
  /** Query fields that this driver does not know. */
  unknownFields?: string[];
  /** Queries, by the beginning of their arguments, that fail with this text. */
  failing?: Record<string, string>;
}

/** Writes `nvidia-smi` into `dir` and returns an environment that finds it first. */
export function writeStandIn(dir: string, { gpus, processes = [], link = 'NV18', unknownFields = [], failing = {} }: StandIn): Record<string, string> {
  const data = { rows: gpus.map(rowOf), apps: processes.map(appOf), topology: drawTopology(gpus, link), list: drawList(gpus), xml: drawXml(gpus, processes), unknownFields, failing };
  return writeScript(dir, `
    const data = ${JSON.stringify(data)};
    const print = (text) => require('node:fs').writeSync(1, text);
    const question = process.argv.slice(2).join(' ');
    const fail = (text, code) => { print(text + '\\n'); process.exit(code); };
    for (const [start, text] of Object.entries(data.failing)) if (question.startsWith(start)) fail(text, 9);
    const table = (rows, fields) => {
      for (const field of fields) if (data.unknownFields.includes(field)) fail('Field "' + field + '" is not a valid field to query.\\n', 2);
      return rows.map((row) => fields.map((field) => row[field]).join(', ') + '\\n').join('');
    };
    const [, query, fields] = /^--query-(gpu|compute-apps)=([^ ]*) --format=csv,noheader,nounits$/.exec(question) ?? [];
    const text = query === 'gpu' ? table(data.rows, fields.split(',')) : query === 'compute-apps' ? table(data.apps, fields.split(','))
      : question === 'topo -m' ? data.topology : question === '-L' ? data.list : question === '-q -x' ? data.xml : undefined;
    if (text === undefined) fail('Invalid combination of input arguments. Please run \\'nvidia-smi -h\\' for help.', 1);
    print(text);`);
}

/** A stand-in that runs `code` whatever it is asked. */
export function writeScript(dir: string, code: string): Record<string, string> {
  const path = join(dir, 'nvidia-smi');
  writeFileSync(path, `#!${process.execPath}\n${code}\n`);
  chmodSync(path, 0o755);
  return { PATH: `${dir}:/usr/bin:/bin` };
}

const DEFAULT_NAME = 'NVIDIA H100 80GB HBM3';

function rowOf({ uuid, name = DEFAULT_NAME, totalMib = 81_559, freeMib = 81_079, computeMode = 'Default', slices }: StandInGpu, index: number): Record<string, unknown> {
  return {
    index, uuid, name, 'memory.total': totalMib, 'memory.free': freeMib, compute_mode: computeMode, driver_version: '550.54.15', compute_cap: '9.0',
    'mig.mode.current': slices ? 'Enabled' : 'Disabled',
  };
}

function appOf({ uuid, pid, name, usedMib }: StandInProcess): Record<string, unknown> {
  return { gpu_uuid: uuid, pid, process_name: name, used_memory: usedMib ?? '[N/A]' };
}

function drawTopology(gpus: readonly StandInGpu[], link: string): string {
  const names = gpus.map((_, index) => `GPU${index}`);
  const heading = `\t\u001B[4m${[...names, 'CPU Affinity', 'NUMA Affinity', 'GPU NUMA ID'].join('\t')}\u001B[0m\n`;
  const rows = gpus.map(({ numa = 0 }, own) => `GPU${own}\t${names.map((_, other) => (other === own ? ' X ' : link)).join('\t')}\t0-47,96-143\t${numa}\t\tN/A\n`);
  return `${heading}${rows.join('')}\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n  NV#  = Connection traversing a bonded set of # NVLinks\n`;
}

function drawList(gpus: readonly StandInGpu[]): string {
  return gpus.map(({ uuid, name = DEFAULT_NAME, slices = [] }, index) => {
    const lines = slices.map((slice, place) => `  MIG ${slice.profile.padEnd(11)} Device ${String(place).padStart(2)}: (UUID: ${slice.uuid})\n`);
    return `GPU ${index}: ${name} (UUID: ${uuid})\n${lines.join('')}`;
  }).join('');
}

function drawXml(gpus: readonly StandInGpu[], processes: readonly StandInProcess[]): string {
  const bodies = gpus.map(({ uuid, slices = [], totalMib = 81_559 }, index) => {
    const devices = slices.map(({ totalMib: total, freeMib: free, instance }, place) => `
\t\t\t<mig_device>
\t\t\t\t<index>${place}</index>
\t\t\t\t<gpu_instance_id>${instance}</gpu_instance_id>
\t\t\t\t<compute_instance_id>0</compute_instance_id>
\t\t\t\t<fb_memory_usage>
\t\t\t\t\t<total>${total} MiB</total>
\t\t\t\t\t<reserved>0 MiB</reserved>
\t\t\t\t\t<used>${total - free} MiB</used>
\t\t\t\t\t<free>${free} MiB</free>
\t\t\t\t</fb_memory_usage>
\t\t\t</mig_device>`);
    const running = processes.filter((process) => process.uuid === uuid).map(({ pid, name, instance }) => `
\t\t\t<process_info>
\t\t\t\t<gpu_instance_id>${instance ?? 'N/A'}</gpu_instance_id>
\t\t\t\t<compute_instance_id>${instance === undefined ? 'N/A' : 0}</compute_instance_id>
\t\t\t\t<pid>${pid}</pid>
\t\t\t\t<type>C</type>
\t\t\t\t<process_name>${name}</process_name>
\t\t\t\t<used_memory>N/A</used_memory>
\t\t\t</process_info>`);
    return `
\t<gpu id="00000000:0${index + 1}:00.0">
\t\t<uuid>${uuid}</uuid>
\t\t<mig_devices>${devices.join('')}
\t\t</mig_devices>
\t\t<fb_memory_usage>
\t\t\t<total>${totalMib} MiB</total>
\t\t</fb_memory_usage>
\t\t<processes>${running.join('')}
\t\t</processes>
\t</gpu>`;
  });
  return `<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>\n\t<attached_gpus>${gpus.length}</attached_gpus>${bodies.join('')}\n</nvidia_smi_log>\n`;
}
