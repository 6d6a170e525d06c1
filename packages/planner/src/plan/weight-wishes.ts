// What quantising while loading makes of a model's weights. Only what the user asked for is applied: it changes the scores.
import type { ModelFacts } from '../model/model-facts.ts';

/**
 * vLLM's methods that quantise a 16-bit checkpoint in flight, with the bits that a weight then takes; every other name states what
 * the files hold already. bitsandbytes keeps a float32 scale for 64 weights beside 4 bits each, and compresses some of those.
 */
const IN_FLIGHT_BITS: Readonly<Record<string, { bits: number; storedBits: number }>> = {
  fp8: { bits: 8, storedBits: 8 },
  experts_int8: { bits: 8, storedBits: 8 },
  bitsandbytes: { bits: 4, storedBits: 4.5 },
};

/** The facts as the engine will hold them. Embeddings and output layer stay in the run's type. */
export function quantizeFacts(facts: ModelFacts, method: string | undefined): ModelFacts {
  const inFlight = method === undefined ? undefined : IN_FLIGHT_BITS[method];
  if (!inFlight || method === undefined || facts.quantization !== undefined || facts.parameters === 0) return facts;
  const ends = Math.min(facts.parameters, facts.vocab * facts.hidden * (facts.isTied ? 1 : 2));
  const body = Math.round(((facts.parameters - ends) * inFlight.storedBits) / 8);
  return { ...facts, weightBytesByDtype: { BF16: 2 * ends, U8: body }, weightBytes: 2 * ends + body, quantization: { method, bits: inFlight.bits } };
}
