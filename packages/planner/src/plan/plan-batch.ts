// Batch limits, compilation and prefix cache of a plan. They are derived, never searched for by trial on the live run.
import { AssayError, type Determinism, GIB } from '@assay/domain';
import type { ModelFacts } from '../model/model-facts.ts';
import type { DeviceLayout } from './plan-devices.ts';
import type { PlanWishes } from './plan-wishes.ts';
import type { Workload } from '../requests/workload.ts';

interface BatchPlan {
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  enforceEager: boolean;
  enablePrefixCaching: boolean;
  why: string[];
}

interface BatchInput {
  device: 'cpu' | 'cuda';
  /** What batches the engine takes by default on this device. */
  size: keyof typeof BATCH_DEFAULTS;
  /** A C++ compiler, which compilation on CPU needs. */
  compiler: string | undefined;
  facts: Pick<ModelFacts, 'parameters'>;
  layout: DeviceLayout;
  wishes: PlanWishes;
  determinism: Determinism;
  workload: Pick<Workload, 'newTokens'>;
}

/** What vLLM gives lm_eval's backend: on CPU, on a device of 70 GiB and more that is no A100, on any other. */
const BATCH_DEFAULTS = {
  cpu: { maxNumSeqs: 256, maxNumBatchedTokens: 4096 },
  large: { maxNumSeqs: 1024, maxNumBatchedTokens: 16384 },
  small: { maxNumSeqs: 256, maxNumBatchedTokens: 8192 },
} as const;

// Beyond this a sequence more costs memory and brings nothing on a CPU: 711 output tokens/s were measured at 128.
const CPU_SEQS = 128;

/** Halving goes no lower, neither the planner's own nor a rung's: a step of fewer tokens saves no memory that matters and is all overhead. */
export const MIN_BATCHED_TOKENS = 128;

/** The planner halves no further than this; a rung may. */
export const MIN_SEQS = 16;

/** The row of defaults for a device. */
export function sizeOfBatches(gpu: { name: string; memoryBytes: number } | undefined): keyof typeof BATCH_DEFAULTS {
  if (!gpu) return 'cpu';
  return gpu.memoryBytes >= 70 * GIB && !/A100/.test(gpu.name) ? 'large' : 'small';
}

export function planBatches(input: BatchInput): BatchPlan {
  const { wishes, determinism } = input;
  const defaults = BATCH_DEFAULTS[input.size];
  const why: string[] = [];
  const isIsolated = determinism === 'isolated';
  const maxNumSeqs = isIsolated ? 1 : wishes.maxNumSeqs ?? (input.device === 'cpu' ? CPU_SEQS : defaults.maxNumSeqs);
  if (isIsolated) why.push('max_num_seqs=1 and no prefix cache: each result depends on its request alone (isolated)');
  // The engine refuses a step that could not hold a token of every sequence.
  const maxNumBatchedTokens = wishes.maxNumBatchedTokens ?? Math.max(defaults.maxNumBatchedTokens, maxNumSeqs);
  if (maxNumBatchedTokens < maxNumSeqs) {
    throw new AssayError('PLAN_IMPOSSIBLE', {
      problem: `max_num_batched_tokens=${maxNumBatchedTokens} is less than max_num_seqs=${maxNumSeqs}`,
      instead: `Lower max_num_seqs to at most ${maxNumBatchedTokens}, or leave one of them out.`,
    });
  }
  if (wishes.maxNumBatchedTokens === undefined) why.push(`max_num_batched_tokens=${maxNumBatchedTokens}: the engine's default for lm_eval's backend`);
  return {
    maxNumSeqs,
    maxNumBatchedTokens,
    enablePrefixCaching: !isIsolated && (wishes.enablePrefixCaching ?? true),
    enforceEager: decideEager(input, why),
    why,
  };
}

// Measured on two CPU cores with a 135 M model: 830 output tokens/s eager, 1,100 compiled, which starts 75 s later.
const MEASURED = { parameters: 135e6, threads: 2, eagerTokensPerSecond: 830, compiledTokensPerSecond: 1100, compileSeconds: 75 } as const;

function decideEager(input: BatchInput, why: string[]): boolean {
  const { device, layout, wishes, determinism, compiler } = input;
  if (device === 'cuda') return wishes.enforceEager ?? false;
  if (layout.pipeline > 1 || wishes.enforceEager === false) {
    if (wishes.enforceEager) throw new AssayError('PLAN_IMPOSSIBLE', { problem: 'pipeline stages on CPU do not run with enforce_eager', instead: 'Leave enforce_eager out.' });
    requireCompiler(compiler, layout.pipeline > 1 ? 'pipeline stages on CPU are compiled' : 'enforce_eager=False');
    if (layout.pipeline > 1) why.push('compiled: pipeline stages on CPU need it');
    return false;
  }
  if (wishes.enforceEager !== undefined) return wishes.enforceEager;
  if (determinism === 'isolated') {
    why.push('eager: in isolated the choice may not depend on how much work there is');
    return true;
  }
  return weighCompilation(input, why);
}

function requireCompiler(compiler: string | undefined, what: string): void {
  if (compiler !== undefined) return;
  throw new AssayError('PLAN_IMPOSSIBLE', { problem: `${what}, which needs a C++ compiler, and there is no g++ on the PATH and CXX names none`, instead: 'Install g++, or name a compiler by CXX, or plan without it: pipeline=1 and no enforce_eager.' });
}

/** Whether compiling saves more time than it costs. */
function weighCompilation({ facts, layout, determinism, workload, compiler }: BatchInput, why: string[]): boolean {
  // In strict the number of replicas may not decide: it belongs to no identity.
  const threads = layout.threadsPerWorker * (determinism === 'strict' ? 1 : layout.data);
  const scale = ((facts.parameters || MEASURED.parameters) / MEASURED.parameters) * (MEASURED.threads / threads);
  const decodeSeconds = (workload.newTokens * scale) / MEASURED.eagerTokensPerSecond;
  const savedSeconds = decodeSeconds * (1 - MEASURED.eagerTokensPerSecond / MEASURED.compiledTokensPerSecond);
  // Twice the price: the estimate is rough, and answers are usually shorter than their budgets.
  const pays = savedSeconds >= 2 * MEASURED.compileSeconds;
  if (pays && compiler === undefined) {
    why.push(`eager: compiling would save about ${Math.round(savedSeconds)} s of decoding, and needs a C++ compiler (there is no g++ on the PATH and CXX names none)`);
    return true;
  }
  why.push(pays
    ? `compiled: about ${Math.round(savedSeconds)} s of decoding saved for about ${MEASURED.compileSeconds} s of compiling`
    : `eager: compiling costs about ${MEASURED.compileSeconds} s and would save about ${Math.round(savedSeconds)} s of decoding`);
  return !pays;
}
