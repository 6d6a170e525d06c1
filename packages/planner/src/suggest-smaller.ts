// What would make a run fit that does not: the smallest change first, each one worked out and not guessed.
import { formatBytes } from '@assay/domain';
import { type Candidate, listCandidates } from './candidates.ts';
import type { PlanBasis } from './plan-draft.ts';
import { quantizeFacts } from './weight-wishes.ts';

interface Change {
  text: string;
  /** It changes what is computed, and not only where. */
  isPrecision?: boolean;
  apply(basis: PlanBasis): PlanBasis | undefined;
}

/** Each leaves the results less like what was asked for than the one before. */
const CHANGES: readonly Change[] = [
  { text: 'with fewer replicas (plan data=1)', apply: (basis) => (basis.wishes.data !== undefined && basis.wishes.data > 1 ? { ...basis, wishes: { ...basis.wishes, data: 1 } } : undefined) },
  { text: 'with a layout of the planner\'s own (plan: auto)', apply: forgetLayout },
  { text: 'with twice as many such devices', apply: (basis) => multiplyDevices(basis, 2) },
  { text: 'with four times as many such devices', apply: (basis) => multiplyDevices(basis, 4) },
  { isPrecision: true, text: 'in 8 bit (model_args quantization=fp8)', apply: (basis) => quantize(basis, 'fp8') },
  { isPrecision: true, text: 'in 4 bit (model_args quantization=bitsandbytes)', apply: (basis) => quantize(basis, 'bitsandbytes') },
];

/** At most two, since people choose between machines and precision. */
export function suggestSmaller(basis: PlanBasis, nearest: Candidate): string {
  const found = CHANGES.flatMap((change) => {
    const changed = change.apply(basis);
    const verdict = changed && listCandidates(changed).find(({ isChosen }) => isChosen)?.verdict;
    return verdict === undefined ? [] : [{ isPrecision: change.isPrecision ?? false, text: `${change.text}${verdict === 'tight' ? ', barely' : ''}` }];
  });
  const missing = `${formatBytes(nearest.missingBytes ?? 0)} are missing.`;
  const [machine, precision] = [false, true].map((isPrecision) => found.find((change) => change.isPrecision === isPrecision));
  const texts = [...(machine ? [machine.text] : []), ...(precision ? [precision.text] : [])];
  return texts.length > 0 ? `${missing} It would fit ${texts.join(', or ')}.` : `${missing} Use fewer replicas, a smaller or quantised model, a lower max_model_len, or more memory.`;
}

function forgetLayout(basis: PlanBasis): PlanBasis | undefined {
  const { data, tensor, pipeline, ...wishes } = basis.wishes;
  return data === undefined && tensor === undefined && pipeline === undefined ? undefined : { ...basis, wishes };
}

function multiplyDevices(basis: PlanBasis, times: number): PlanBasis | undefined {
  const { node } = basis.input;
  if (node.gpus.length === 0) return undefined;
  const gpus = Array.from({ length: node.gpus.length * times }, (_, place) => ({ ...node.gpus[place % node.gpus.length]!, id: `imagined-${place}` }));
  return { ...basis, input: { ...basis.input, node: { ...node, gpus } } };
}

function quantize(basis: PlanBasis, method: string): PlanBasis | undefined {
  const facts = quantizeFacts(basis.facts, method);
  return basis.device === 'cpu' || facts === basis.facts ? undefined : { ...basis, facts };
}
