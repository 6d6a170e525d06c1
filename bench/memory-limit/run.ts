// A memory limit at the edge, with the probe and without it, against a run without a limit: a line for each; exit 1 where no rung
// was taken or a sum is farther off than the tolerance. Usage: node bench/memory-limit/run.ts [SEED]
import { AssayWorld } from '../../test/support/assay-world.ts';
import { requireManifest } from '../../test/support/run-record.ts';
import { compareRuns } from '../compare-runs.ts';
import { drawEdge, evaluateEdge, SUM_TOLERANCE, writeEdgeTask } from './edge-runs.ts';

const seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
const { lengths, tightMib } = drawEdge(seed);
const CASES = [
  { name: 'probed', memory: '5GiB', probe: true },
  { name: 'unprobed', memory: `${tightMib}MiB`, probe: false },
];

const world = new AssayWorld();
try {
  writeEdgeTask(world, lengths);
  const unlimited = await evaluateEdge(world, 'unlimited', {});
  for (const { name, memory, probe } of CASES) {
    const dir = await evaluateEdge(world, name, { limits: { memory }, probe });
    const { maxDelta, flips } = await compareRuns(dir, unlimited);
    const { rungs } = await requireManifest(dir);
    console.log(`memory-limit case=${name} limit=${memory} longest=${lengths[0]} rungs=${rungs.length} max_delta=${maxDelta.toFixed(3)} flips=${flips.length} seed=${seed}`);
    if (rungs.length === 0 || !(maxDelta < SUM_TOLERANCE)) process.exitCode = 1;
  }
} finally {
  await world.remove();
}
