// A run small enough to reason about: an index with a few tasks, and results that belong to it.
import { mkdir } from 'node:fs/promises';
import type { Outcome } from '@assay/domain';
import { INDEX_COLUMNS, type RequestIndex, type Result } from '@assay/protocol';
import { buildRunPaths } from '../run-paths.ts';

/** `requests` rows over `tasks` tasks in blocks; row r of its task is ordinal r. */
export function buildIndex(requests: number, tasks = 2): RequestIndex {
  const columns = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, new Uint32Array(requests)])) as Record<(typeof INDEX_COLUMNS)[number], Uint32Array>;
  const perTask = Math.ceil(requests / tasks);
  for (let row = 0; row < requests; row += 1) {
    columns.task[row] = Math.floor(row / perTask);
    columns.ordinal[row] = row % perTask;
    columns.kind[row] = columns.task[row] === 0 ? 0 : 2;
  }
  return { count: requests, tokenOffset: new BigUint64Array(requests), columns };
}

export function buildResult(index: RequestIndex, row: number, outcome: Outcome = 'ok', text = `answer ${row}`): Result {
  const at = (name: 'task' | 'ordinal' | 'repeat' | 'window') => index.columns[name][row] as number;
  return { row, task: at('task'), ordinal: at('ordinal'), repeat: at('repeat'), window: at('window'), outcome, text };
}

export async function makeRunFolders(dir: string): Promise<void> {
  await mkdir(buildRunPaths(dir).resultsDir, { recursive: true });
}
