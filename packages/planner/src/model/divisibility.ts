// What a model's shape allows: which numbers of tensor ranks and pipeline stages divide it. Checked before anything is
// loaded, since the engine finds out only after it has started.
import { AssayError } from '@assay/domain';
import type { ModelFacts } from './model-facts.ts';

export type ShapeFacts = Pick<ModelFacts, 'heads' | 'kvHeads' | 'hidden' | 'intermediate' | 'vocab' | 'layers' | 'latentDim' | 'quantization' | 'experts'> & Partial<Pick<ModelFacts, 'headDim'>>;

// vLLM pads the vocabulary to this many rows before it cuts it.
const VOCAB_PADDING = 64;

export function padVocab(vocab: number): number {
  return Math.ceil(vocab / VOCAB_PADDING) * VOCAB_PADDING;
}

/** Each rule says why `tensor` ranks cannot cut the model, or undefined. A dimension that is not known (0) refuses nothing. */
const TENSOR_RULES: readonly ((facts: ShapeFacts, tensor: number) => string | undefined)[] = [
  ({ heads }, tensor) => refuseUnlessDivided('attention heads', heads, tensor),
  ({ kvHeads, latentDim }, tensor) => {
    if (latentDim !== undefined || kvHeads === 0 || kvHeads % tensor === 0 || tensor % kvHeads === 0) return undefined;
    return `${kvHeads} KV heads can be neither divided by ${tensor} nor replicated to ${tensor}`;
  },
  ({ intermediate }, tensor) => refuseUnlessDivided('intermediate size', intermediate, tensor),
  ({ vocab }, tensor) => refuseUnlessDivided('padded vocabulary', padVocab(vocab), tensor),
  (facts, tensor) => refuseUnlessBlocksFit(facts, tensor),
];

function refuseUnlessDivided(what: string, size: number, tensor: number): string | undefined {
  return size % tensor === 0 ? undefined : `${what} (${size}) cannot be divided by ${tensor}`;
}

/** Why a quantisation block of `block` weights does not fit the `tensor`th part of `size`, or undefined. */
export function refuseUnlessBlockFits(what: string, size: number, tensor: number, block: number): string | undefined {
  if (size === 0 || size % tensor !== 0 || (size / tensor) % block === 0) return undefined;
  return `${what} ${size}/${tensor} = ${size / tensor} is not a multiple of the quantisation block of ${block}`;
}

/** Dimensions that a tensor cut divides, with the parts that one rank gets of each. A dimension that is not known is 0. */
function listCutDimensions({ heads, headDim = 0, intermediate, latentDim, experts }: ShapeFacts): { what: string; size: number }[] {
  return [
    { what: 'intermediate size', size: intermediate },
    { what: 'size of an expert', size: experts?.intermediate ?? 0 },
    { what: 'attention output', size: latentDim === undefined ? heads * headDim : 0 },
  ];
}

/** A group lies along the input of a matrix, a block along both sides, so keys and values must hold whole ones too. */
function refuseUnlessBlocksFit(facts: ShapeFacts, tensor: number): string | undefined {
  const { quantization, kvHeads, headDim = 0, latentDim } = facts;
  if (tensor === 1 || quantization === undefined) return undefined;
  const { groupSize, blockShape } = quantization;
  const blocks = [groupSize, ...(blockShape ?? [])].filter((block) => block !== undefined);
  const problems = listCutDimensions(facts).flatMap(({ what, size }) => blocks.map((block) => refuseUnlessBlockFits(what, size, tensor, block)));
  const keys = kvHeads * headDim;
  if (blockShape && latentDim === undefined && kvHeads % tensor === 0) problems.push(refuseUnlessBlockFits('key and value size', keys, tensor, blockShape[0]));
  return problems.find((problem) => problem !== undefined);
}

/** Why the model cannot be cut over `tensor` ranks, or undefined where it can. */
export function refuseTensor(facts: ShapeFacts, tensor: number): string | undefined {
  if (tensor === 1) return undefined;
  for (const rule of TENSOR_RULES) {
    const problem = rule(facts, tensor);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The numbers of tensor ranks up to `most` that the shape allows. */
export function allowedTensorSizes(facts: ShapeFacts, most: number): number[] {
  return Array.from({ length: most }, (_, index) => index + 1).filter((tensor) => refuseTensor(facts, tensor) === undefined);
}

/** Refuses a tensor or pipeline size that the model cannot take, naming those it can. Throws PLAN_IMPOSSIBLE. */
export function requireDivisible(facts: ShapeFacts, { tensor, pipeline }: { tensor: number; pipeline: number }): void {
  const problem = refuseTensor(facts, tensor);
  if (problem !== undefined) {
    throw new AssayError('PLAN_IMPOSSIBLE', { problem: `tensor=${tensor}: ${problem}`, instead: describeValidSizes(facts) });
  }
  if (facts.layers > 0 && pipeline > facts.layers) {
    throw new AssayError('PLAN_IMPOSSIBLE', { problem: `pipeline=${pipeline}: the model has ${facts.layers} layers`, instead: `Valid by its ${facts.layers} layers: pipeline=1 to ${facts.layers}.` });
  }
}

/** All sizes, also beyond the devices of this node: they are a property of the model. */
function describeValidSizes(facts: ShapeFacts): string {
  const byHeads = Array.from({ length: Math.max(1, facts.heads) }, (_, index) => index + 1).filter((tensor) => facts.heads % tensor === 0);
  const byShape = byHeads.filter((tensor) => refuseTensor(facts, tensor) === undefined);
  const others = byShape.length < byHeads.length ? `; its other dimensions leave ${byShape.join(', ')}` : '';
  return `Valid by its ${facts.heads} heads: tensor=${byHeads.join(', ')}${others}.`;
}
