// The plan as people read it: what lies where, what it will take, and why.
import { formatBytes, type PlanLayout, type TimeEstimate } from '@assay/domain';
import { formatSeconds } from './format-numbers.ts';
import { type MemoryView, TERM_NAMES } from './memory-terms.ts';
import { describeBasis, describeParts } from './time-view.ts';

interface PlanView extends PlanLayout {
  memory: MemoryView;
}

const KIND_NAMES: Readonly<Record<string, string>> = { resident: 'resident memory', address_space: 'address space', device: 'device memory' };

/** A few lines: layout, batch limits, memory by term, predicted time where it is known, and the reasons. */
export function renderPlan(plan: PlanView, time?: TimeEstimate): string {
  return [
    `plan    ${describeLayout(plan)}, ${plan.dtype}, ${plan.enforceEager ? 'not compiled (eager)' : 'compiled'}`,
    `batch   max_num_seqs ${plan.maxNumSeqs} sequences, max_num_batched_tokens ${plan.maxNumBatchedTokens} tokens a step, max_model_len ${plan.maxModelLen} tokens, prefix cache ${plan.enablePrefixCaching ? 'on' : 'off'}`,
    ...renderMemory(plan),
    ...(time ? renderTime(time, plan.device) : []),
    ...plan.why.map((reason, place) => `${place === 0 ? 'why    ' : '       '} - ${reason}`),
  ].join('\n');
}

function describeLayout({ device, data, tensor, pipeline, threadsPerWorker, cpuSets, deviceSets }: PlanView): string {
  const replicas = `${data} ${data === 1 ? 'worker' : 'workers'}`;
  const ranks = [tensor > 1 ? `tensor ${tensor}` : '', pipeline > 1 ? `pipeline ${pipeline}` : ''].filter((part) => part !== '');
  const sets = device === 'cpu' ? cpuSets : deviceSets;
  const places = sets.length > 0 ? [`${device === 'cpu' ? 'cores' : 'devices'} ${sets.map((set) => set.join(',')).join(' | ')}`] : [];
  const threads = device === 'cpu' ? [`${threadsPerWorker} ${threadsPerWorker === 1 ? 'thread' : 'threads'} each`] : [];
  return [replicas, ...ranks, ...places, ...threads].join(', ');
}

function renderMemory({ memory, memoryLimitBytes }: PlanView): string[] {
  const { logits = 0, promptLogprobs = 0 } = memory.terms;
  // Of these two only the larger is held at a time, so only it is part of the sum.
  const hidden = logits < promptLogprobs ? 'logits' : 'promptLogprobs';
  const terms = Object.entries(memory.terms).filter(([name, bytes]) => bytes > 0 && name !== hidden);
  const parts = terms.map(([name, bytes]) => `${TERM_NAMES[name] ?? name} ${formatBytes(bytes)}`);
  if (memory.residualBytes !== 0) parts.push(`correction from earlier runs ${memory.residualBytes > 0 ? '+' : ''}${formatBytes(memory.residualBytes)}`);
  return [
    `memory  about ${formatBytes(memory.totalBytes)} of ${formatBytes(memoryLimitBytes)} a worker (${KIND_NAMES[memory.kind] ?? memory.kind}; the rule of thumb says ${formatBytes(memory.ruleOfThumbBytes)})`,
    `        = ${parts.join(' + ')}`,
  ];
}

/** To the last result; what comes before and after is the harness's. */
function renderTime(time: TimeEstimate, device: PlanView['device']): string[] {
  return [
    `time    about ${formatSeconds(time.wallSeconds)} from start to last result, ${time.deviceHours.toFixed(2)} ${device === 'cpu' ? 'core-hours' : 'GPU-hours'}; ${describeBasis(time)}`,
    `        = ${describeParts(time)}`,
  ];
}
