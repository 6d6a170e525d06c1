// The GPUs that this run may use, and those that it leaves out with the reason. Nothing is passed over in silence: a driver
// that fails or hangs is named like a device that is in use.
import { formatBytes } from '@assay/domain';
import type { GpuFacts, LeftOutDevice } from '@assay/planner';
import { GPU_FIELDS, type GpuProcess, type GpuRow, parseGpuProcesses, parseGpuRows, PROCESS_FIELDS } from './gpu-rows.ts';
import { parseMigList, parseMigStates, type SliceState } from './mig-slices.ts';
import { askNvidiaSmi, type SmiAnswer, type SmiOptions } from './nvidia-smi.ts';
import { type GpuLinks, parseTopology } from './nvlink-topology.ts';
import { explainNoChoice, type Selectable, selectVisible, VISIBLE_DEVICES } from './visible-devices.ts';

interface GpuSurvey {
  gpus: GpuFacts[];
  leftOut: LeftOutDevice[];
  driver?: string;
}

interface SurveyOptions extends SmiOptions {
  /** Whether a process is part of this run. */
  isOwn: (pid: number) => boolean;
}

interface Candidate extends Selectable {
  facts: GpuFacts;
  /** Why it cannot be used. */
  problem: string | undefined;
}

const FORMAT = '--format=csv,noheader,nounits';

/** Throws DEVICE_UNKNOWN where CUDA_VISIBLE_DEVICES is wrong. */
export async function surveyGpus(options: SurveyOptions): Promise<GpuSurvey> {
  const visible = options.env[VISIBLE_DEVICES];
  const none = (...leftOut: LeftOutDevice[]) => ({ gpus: [], leftOut: [...leftOut, ...explainNoChoice(0, visible)] });
  const answer = await askGpus(options);
  if (answer.kind === 'absent') return none();
  if (answer.kind === 'broken') return none(aboutSmi(answer.why));
  const { rows, strangers } = parseGpuRows(answer.text);
  const notes = strangers.map((line) => aboutSmi(`nvidia-smi printed what is no GPU: "${line.trim().slice(0, 120)}"`));
  const first = rows[0];
  if (!first) return none(...(notes.length > 0 ? notes : [aboutSmi('nvidia-smi lists no GPU')]));
  const { candidates, problems } = await describeDevices(rows, options);
  const chosen = selectVisible(candidates, visible);
  const unusable = chosen.flatMap(({ id, facts, problem }) => (problem === undefined ? [] : [{ id, name: facts.name, why: problem }]));
  return {
    gpus: chosen.filter(({ problem }) => problem === undefined).map(({ facts }) => facts),
    leftOut: [...notes, ...problems, ...explainNoChoice(rows.length, visible), ...unusable],
    driver: first.driver,
  };
}

async function askGpus(options: SurveyOptions): Promise<SmiAnswer> {
  const answer = await askNvidiaSmi([`--query-gpu=${GPU_FIELDS.join(',')}`, FORMAT], options);
  const isOldDriver = answer.kind === 'broken' && answer.why.includes('not a valid field');
  return isOldDriver ? askNvidiaSmi([`--query-gpu=${GPU_FIELDS.slice(0, -1).join(',')}`, FORMAT], options) : answer;
}

async function describeDevices(rows: readonly GpuRow[], options: SurveyOptions): Promise<{ candidates: Candidate[]; problems: LeftOutDevice[] }> {
  const hasSlices = rows.some(({ isMigEnabled }) => isMigEnabled);
  const skipped: SmiAnswer = { kind: 'text', text: '' };
  const [apps, matrix, list, details] = await Promise.all([
    askNvidiaSmi([`--query-compute-apps=${PROCESS_FIELDS.join(',')}`, FORMAT], options),
    askNvidiaSmi(['topo', '-m'], options),
    hasSlices ? askNvidiaSmi(['-L'], options) : skipped,
    hasSlices ? askNvidiaSmi(['-q', '-x'], options) : skipped,
  ]);
  const others = parseGpuProcesses(textOf(apps)).filter(({ pid }) => !options.isOwn(pid));
  const links = parseTopology(textOf(matrix));
  const [slices, states] = [parseMigList(textOf(list)), parseMigStates(textOf(details))];
  const candidates = rows.flatMap((row) => {
    if (!row.isMigEnabled) return [describeGpu(row, { rows, links, others })];
    return slices.filter(({ parent }) => parent === row.uuid).map(({ id, profile, place }) => {
      const state = states.find((found) => found.parent === row.uuid && found.place === place);
      const own = (state?.processes ?? []).filter(({ pid }) => !options.isOwn(pid)).map((process) => ({ ...process, uuid: id, usedBytes: undefined }));
      return describeSlice(row, { id, profile, state, links, others: [...own, ...others.filter(({ uuid }) => uuid === id)] });
    });
  });
  return { candidates, problems: [...listFailures({ apps, list, details }), ...findUncut(rows, candidates)] };
}

/** Without these answers a device may be busy or cut otherwise than it looks. Links are only lost speed. */
function listFailures(answers: Readonly<Record<'apps' | 'list' | 'details', SmiAnswer>>): LeftOutDevice[] {
  const what = { apps: 'the processes on the GPUs', list: 'the slices of the GPUs', details: 'the memory of the slices' } as const;
  return (['apps', 'list', 'details'] as const).flatMap((name) => {
    const answer = answers[name];
    return answer.kind === 'broken' ? [aboutSmi(`${what[name]} could not be listed: ${answer.why}`)] : [];
  });
}

function findUncut(rows: readonly GpuRow[], candidates: readonly Candidate[]): LeftOutDevice[] {
  return rows.filter(({ isMigEnabled, uuid }) => isMigEnabled && !candidates.some(({ parent }) => parent === uuid))
    .map(({ uuid, name }) => ({ id: uuid, name, why: 'it is in MIG mode and has no slice to use' }));
}

interface GpuContext {
  rows: readonly GpuRow[];
  links: GpuLinks;
  others: readonly GpuProcess[];
}

function describeGpu(row: GpuRow, { rows, links, others }: GpuContext): Candidate {
  const { index, uuid, name, memoryBytes = 0, freeBytes = 0 } = row;
  const peers = (links.peers.get(index) ?? []).flatMap((peer) => rows.find((other) => other.index === peer)?.uuid ?? []);
  const users = others.filter((process) => process.uuid === uuid);
  const facts = { id: uuid, name, memoryBytes, freeBytes, isMig: false, ...capabilityOf(row), nvlinkPeers: peers, ...numaOf(row, links) };
  return { id: uuid, index, facts, problem: findProblem(row, users) };
}

interface SliceContext {
  id: string;
  profile: string;
  state: SliceState | undefined;
  links: GpuLinks;
  others: readonly GpuProcess[];
}

function describeSlice(row: GpuRow, { id, profile, state, links, others }: SliceContext): Candidate {
  const { memoryBytes = 0, freeBytes = 0 } = state ?? {};
  const facts = { id, name: `${row.name} MIG ${profile}`, memoryBytes, freeBytes, isMig: true, ...capabilityOf(row), nvlinkPeers: [], ...numaOf(row, links) };
  const problem = findProblem({ ...row, memoryBytes: state?.memoryBytes, memoryText: '' }, others);
  return { id, index: row.index, parent: row.uuid, facts, problem };
}

function findProblem({ memoryBytes, memoryText, computeMode }: GpuRow, others: readonly GpuProcess[]): string | undefined {
  if (memoryBytes === undefined || memoryBytes === 0) return `nvidia-smi does not say how much memory it has${memoryText ? ` ("${memoryText}")` : ''}`;
  if (computeMode === 'Prohibited') return 'its compute mode is Prohibited: no process may use it';
  if (others.length === 0) return undefined;
  const named = others.map(({ pid, name, usedBytes }) => `process ${pid} (${[name, usedBytes && formatBytes(usedBytes)].filter(Boolean).join(', ')})`);
  return `in use by ${named.join(' and ')}, which this run did not start${computeMode === 'Exclusive_Process' ? '; its compute mode admits one process alone' : ''}`;
}

const capabilityOf = ({ computeCapability }: GpuRow) => (computeCapability === undefined ? {} : { computeCapability });

function numaOf({ index }: GpuRow, { numaNodes }: GpuLinks): { numaNode?: number } {
  const numaNode = numaNodes.get(index);
  return numaNode === undefined ? {} : { numaNode };
}

const textOf = (answer: SmiAnswer): string => (answer.kind === 'text' ? answer.text : '');
const aboutSmi = (why: string): LeftOutDevice => ({ id: 'nvidia-smi', name: 'nvidia-smi', why });
