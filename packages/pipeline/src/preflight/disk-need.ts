// Whether the disk has room for a run, once its requests are known. Called before the engine loads, so that a run does not
// end hours later on a full disk.
import type { RequestIndex } from '@assay/protocol';
import { checkSpace, estimateRunBytes } from '@assay/store';

/** Throws DISK_FULL with what is free and what is needed. */
export async function checkDiskNeed(dir: string, index: RequestIndex): Promise<void> {
  await checkSpace(dir, estimateDiskNeed(index));
}

/** An upper estimate: every answer as long as its budget allows. */
export function estimateDiskNeed({ count, columns }: RequestIndex): number {
  const { contextTokens, continuationTokens, newTokenBudget } = columns;
  return estimateRunBytes({ requests: count, promptTokens: sum(contextTokens) + sum(continuationTokens), newTokens: sum(newTokenBudget) });
}

// A loop: a million requests, and sums beyond 32 bits.
function sum(column: Uint32Array): number {
  let total = 0;
  for (const value of column) total += value;
  return total;
}
