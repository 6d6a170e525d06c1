// The harness worker of a run, in its record and its metrics.
import { workerLogFile } from '@assay/store';
import type { Prepared } from '../prepare-run.ts';
import { HarnessWorker } from './harness-worker.ts';
import { noteMove, noteStart } from './worker-record.ts';

export function startHarness(prepared: Prepared): HarnessWorker {
  const { home, log, metrics, python, run } = prepared.context;
  const harness = new HarnessWorker({
    python, log, logFile: workerLogFile(run.dir, 'harness'), env: { ASSAY_HOME: home },
    onEvent: (event) => { if (event.type === 'heartbeat') metrics.set('assay_worker_peak_bytes', event.peakBytes, { role: 'harness' }); },
    onState: (move) => noteMove(prepared, harness.handle, move),
  });
  noteStart(prepared, harness.handle);
  return harness;
}
