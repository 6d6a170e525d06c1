// Two replicas, three tensor ranks and two pipeline stages against one worker: a line for each layout; exit 1 where a sample's
// metrics differ or a sum by more than the tolerance. Usage: node bench/parallel/run.ts
import { isDeepStrictEqual } from 'node:util';
import { AssayWorld } from '../../test/support/assay-world.ts';
import { requireManifest } from '../../test/support/run-record.ts';
import { compareRuns, readSampleMetrics } from '../compare-runs.ts';
import { LAYOUTS, runLayout, SUM_TOLERANCE } from './layouts.ts';

const world = new AssayWorld();
try {
  const alone = await runLayout(world, 'alone', {});
  for (const [name, plan] of Object.entries(LAYOUTS)) {
    const dir = await runLayout(world, name, plan);
    const { rows, maxDelta, flips } = await compareRuns(dir, alone);
    const isSame = isDeepStrictEqual(readSampleMetrics(dir), readSampleMetrics(alone));
    const { timings } = await requireManifest(dir);
    console.log(`parallel layout=${name} rows=${rows} max_delta=${maxDelta.toExponential(1)} flips=${flips.length} same_metrics=${isSame} seconds=${timings.wallSeconds.toFixed(1)}`);
    if (!isSame || !(maxDelta < SUM_TOLERANCE)) process.exitCode = 1;
  }
} finally {
  await world.remove();
}
