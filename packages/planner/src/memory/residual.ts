// What measured peaks say beyond the memory model: a constant, and a share of the terms that live for one step only. Weights and
// KV cache are counted exactly, so an error is either the process around them (a constant, whatever is asked) or how well the
// step's buffers were counted (in proportion to them). Fitted by ridge towards no correction: one run moves a prediction part of
// the way, and no number of runs lets two coefficients follow noise. Invariant: nothing measured, nothing corrected.
import type { MemoryKind } from './memory-kind.ts';

interface TransientTerms {
  activation: number;
  logits: number;
  promptLogprobs: number;
}

/** What is taken from an estimate. */
interface PredictedMemory {
  terms: TransientTerms;
  totalBytes: number;
  residualBytes: number;
}

/** What one probe has shown, of one rank. */
export interface MemoryObservation {
  /** Activations and the larger of the two kinds of logits, as predicted. */
  transientBytes: number;
  /** The whole, as predicted without a residual. */
  predictedBytes: number;
  measuredBytes: number;
}

interface MemoryResidual {
  fixedBytes: number;
  /** Of the transient terms. */
  transientShare: number;
  /** Settings that it was learned from. */
  settings: number;
}

/** By what is counted: reserved address space and touched pages are off by different amounts. */
export type MemoryResiduals = Partial<Record<MemoryKind, MemoryResidual>>;

// Peaks of one setting differ by this share from run to run; the process may well be off by so much of the whole, and the
// step's buffers by so much of themselves.
const NOISE_SHARE = 0.02;
const FIXED_SPREAD = 0.2;
const TRANSIENT_SPREAD = 0.3;
// However far off the model was, a correction beyond this is a measurement of something else.
const LARGEST_SHARE = 0.5;

/** Undefined where nothing was measured. */
export function fitResidual(observations: readonly MemoryObservation[]): MemoryResidual | undefined {
  if (observations.length === 0) return undefined;
  const scale = observations.reduce((sum, { predictedBytes }) => sum + predictedBytes, 0) / observations.length;
  // Normal equations of two unknowns in units of `scale`, each observation weighed by its own noise.
  let [fixedSquare, cross, transientSquare] = [1 / FIXED_SPREAD ** 2, 0, 1 / TRANSIENT_SPREAD ** 2];
  let [fixedSum, transientSum] = [0, 0];
  for (const { transientBytes, predictedBytes, measuredBytes } of observations) {
    const weight = (scale / (NOISE_SHARE * predictedBytes)) ** 2;
    const [error, transient] = [(measuredBytes - predictedBytes) / scale, transientBytes / scale];
    fixedSquare += weight;
    cross += weight * transient;
    transientSquare += weight * transient ** 2;
    fixedSum += weight * error;
    transientSum += weight * error * transient;
  }
  const determinant = fixedSquare * transientSquare - cross ** 2;
  return {
    fixedBytes: Math.round((scale * (fixedSum * transientSquare - transientSum * cross)) / determinant),
    transientShare: (transientSum * fixedSquare - fixedSum * cross) / determinant,
    settings: observations.length,
  };
}

/** Bytes to add to a raw prediction. */
export function correctionBytes(residual: MemoryResidual | undefined, { predictedBytes, transientBytes }: Omit<MemoryObservation, 'measuredBytes'>): number {
  if (!residual) return 0;
  const most = LARGEST_SHARE * predictedBytes;
  return Math.round(Math.max(-most, Math.min(most, residual.fixedBytes + residual.transientShare * transientBytes)));
}

/** What a measured peak of one rank says about the estimate it was predicted by, whatever that had been corrected by. */
export function observeMemory({ terms, totalBytes, residualBytes }: PredictedMemory, measuredBytes: number): MemoryObservation {
  return { transientBytes: transientBytesOf(terms), predictedBytes: totalBytes - residualBytes, measuredBytes };
}

/** The terms that are held for one step only. */
export function transientBytesOf({ activation, logits, promptLogprobs }: TransientTerms): number {
  // The sampler's rows and the scoring rows are never held at the same moment.
  return activation + Math.max(logits, promptLogprobs);
}
