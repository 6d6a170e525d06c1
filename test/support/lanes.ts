// How many runs go side by side in one test file: most of a run is one process importing, so two fill two cores.

const LANES = 2;
const waiting: (() => void)[] = [];
let free = LANES;

/** Waits for a lane, works in it, and gives it to the next. */
export async function inLane<Value>(work: () => Promise<Value>): Promise<Value> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}
