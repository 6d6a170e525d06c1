// On which devices a run was: a node that a stand-in nvidia-smi describes, the simulated engine on it, and what is sealed.
import { writeStandIn } from '../../packages/pipeline/src/node/nvidia-smi-fixture.ts';
import { type AssayWorld, demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { requireManifest } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

// The first is somebody else's.
const GPUS = ['GPU-busy', 'GPU-a', 'GPU-b', 'GPU-c', 'GPU-d', 'GPU-e', 'GPU-f'];

async function evaluate(world: AssayWorld, env: Record<string, string> = {}, settings: Record<string, unknown> = {}) {
  const node = writeStandIn(makeTempDir(), {
    gpus: GPUS.map((uuid) => ({ uuid, name: uuid === 'GPU-busy' ? 'NVIDIA T4' : 'NVIDIA L4', totalMib: 23_034, freeMib: 22_565 })),
    processes: [{ uuid: 'GPU-busy', pid: 1, name: 'python3' }],
  });
  const { dir, command } = prepareSimulated(world, { settings });
  const run = await world.run(command, { PATH: `${node['PATH']}:${process.env['PATH']}`, ...env });
  return { run, device: (await requireManifest(dir)).device };
}

testInWorld('two replicas of three ranks have disjoint devices, and the manifest names those, not the first of the node', async (world, { expect }) => {
  const { run, device } = await evaluate(world, {}, { plan: { data: 2, tensor: 3 } });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.stderr).toContain('left out: NVIDIA T4 GPU-busy: in use by process 1 (python3)');
  expect(device).toMatchObject({ kind: 'cuda', name: 'NVIDIA L4', count: 6, driver: '550.54.15' });
  expect(device.devices.map(({ id }) => id).toSorted()).toEqual(GPUS.slice(1).toSorted());
  expect(device.devices.map(({ worker }) => worker)).toEqual(['engine-0', 'engine-0', 'engine-0', 'engine-1', 'engine-1', 'engine-1']);
});

testInWorld('a run on the CPU of a node with GPUs is sealed as one on a CPU', async (world, { expect }) => {
  const { run, device } = await evaluate(world, { CUDA_VISIBLE_DEVICES: '' });
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.stderr).toMatch(/left out: CUDA_VISIBLE_DEVICES is empty, so the \d GPUs of this node are not used: this run is on the CPU/);
  expect(device).toMatchObject({ kind: 'cpu', devices: [], driver: null, runtime: null });
});
