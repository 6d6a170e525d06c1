// What an incomplete description of a model leaves open in the memory model, term by term, for people to read.
import type { ModelFacts } from '../model/model-facts.ts';

/** Terms of the memory model by the facts that they need. */
const NEEDED_FACTS: Readonly<Record<string, readonly string[]>> = {
  weights: ['weights'],
  'KV cache': ['layers', 'kvHeads', 'headDim', 'recurrentState'],
  activations: ['hidden', 'intermediate'],
  'logits and prompt log-probabilities': ['vocab'],
};

interface UnknownTerm {
  /** Name of a term of the memory model. */
  term: string;
  /** Facts of ModelFacts that are missing for it. */
  missing: string[];
}

/** Terms that cannot be computed: they count as nothing, and the probe alone finds them. */
export function findUnknownTerms({ unknown }: Pick<ModelFacts, 'unknown'>): UnknownTerm[] {
  return Object.entries(NEEDED_FACTS)
    .map(([term, needed]) => ({ term, missing: needed.filter((fact) => unknown.includes(fact)) }))
    .filter(({ missing }) => missing.length > 0);
}

/** False where no size of the cache follows from a number of tokens. */
export function isCacheKnown({ unknown }: Pick<ModelFacts, 'unknown'>): boolean {
  return !findUnknownTerms({ unknown }).some(({ term }) => term === 'KV cache');
}

/** One sentence for each thing that planning had to do without. */
export function describeUnknown({ unknown, architecture, weightsFrom }: Pick<ModelFacts, 'unknown' | 'architecture' | 'weightsFrom'>): string[] {
  const terms = findUnknownTerms({ unknown }).map(({ term, missing }) => `${term}: not known, config.json does not give ${missing.join(', ')}`);
  const isGuessed = unknown.includes('architecture');
  return [
    ...(isGuessed ? [`${architecture} is not an architecture that is known here: its layers count as ordinary attention`] : []),
    ...terms,
    ...(weightsFrom === 'shape' ? ['the weights are computed from the shape: their files are not on this machine'] : []),
  ];
}
