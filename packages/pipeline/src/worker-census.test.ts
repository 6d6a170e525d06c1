import { Metrics } from '@assay/telemetry';
import { expect, test } from 'vitest';
import { WorkerCensus } from './worker-census.ts';

test('counts workers by role and state, and keeps the ended ones', async () => {
  const metrics = new Metrics({ version: '0.1.0', commit: null });
  const census = new WorkerCensus(metrics);
  census.noteStart('engine');
  census.noteStart('engine');
  census.noteStart('harness');
  census.noteMove('engine', { from: 'starting', to: 'waiting' });
  census.noteMove('engine', { from: 'starting', to: 'crashed' });
  const counts = (await metrics.render()).split('\n').filter((line) => line.startsWith('assay_workers{') && !line.endsWith(' 0'));
  expect(counts).toEqual([
    'assay_workers{role="engine",state="waiting"} 1', 'assay_workers{role="engine",state="crashed"} 1', 'assay_workers{role="harness",state="starting"} 1',
  ]);
});
