// Starts the small programs of test-programs/ as workers, and looks after what they leave.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { python } from '../../../../test/support/environment.ts';
import { findProcesses } from '../../../../test/support/process-table.ts';
import { makeLog } from '../../../../test/support/quiet-log.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { spawnWorker } from '../spawn-worker.ts';
import type { SpawnOptions, WorkerHandle, WorkerMove, WorkerNews } from '../worker-handle.ts';

const PROGRAMS = fileURLToPath(new URL('../../test-programs', import.meta.url));

interface TestWorker {
  worker: WorkerHandle;
  moves: WorkerMove[];
  events: WorkerNews[];
}

/** Spawns `test-programs/<program>.py`; when the test ends, asserts that no process of it is left. */
export function startTestWorker(program: string, options: Partial<SpawnOptions> = {}): TestWorker {
  const mark = `ASSAY_TEST_MARK=${randomUUID()}`;
  const [key, value] = mark.split('=') as [string, string];
  const moves: WorkerMove[] = [];
  const events: WorkerNews[] = [];
  const worker = spawnWorker({
    role: 'engine',
    name: program,
    python,
    pythonPath: PROGRAMS,
    program: [join(PROGRAMS, `${program}.py`)],
    logFile: join(makeTempDir(), 'worker.log'),
    log: makeLog(),
    onState: (move) => moves.push(move),
    onEvent: (event) => events.push(event),
    ...options,
    env: { ...options.env, [key]: value },
  });
  onTestFinished(async () => {
    await worker.kill('the test is over');
    expect(findProcesses(mark)).toEqual([]);
  });
  return { worker, moves, events };
}

export const LOAD = {
  type: 'load', engine: 'simulated', requestsDir: '/nowhere', engineArgs: {}, env: {}, scoring: 'exact', determinism: 'fast',
  requestTimeoutSeconds: 60, seed: 1,
} as const;

export function buildShard(begin: number, end: number, shard = 's0000') {
  return { type: 'shard', shard, epoch: 1, attempt: 1, orderFile: 'requests/order-1.bin', begin, end, skip: [] as number[] } as const;
}
