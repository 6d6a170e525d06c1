// Random numbers that a seed repeats, so that a run of the chaos tests can be had again.

export interface SeededRandom {
  between(low: number, high: number): number;
  pick<Value>(values: readonly Value[]): Value;
}

/** mulberry32. */
export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    between: (low, high) => low + next() * (high - low),
    pick: (values) => values[Math.floor(next() * values.length)] as (typeof values)[number],
  };
}
