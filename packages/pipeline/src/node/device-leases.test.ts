import type { NodeFacts } from '@assay/planner';
import { leaseDevices } from '@assay/store';
import { expect, onTestFinished, test } from 'vitest';
import { describeLeftOut, leaseNode } from './device-leases.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';

const gpu = (id: string) => ({ id, name: 'NVIDIA L4', memoryBytes: 1, freeBytes: 1 });
const nodeOf = (...ids: string[]): NodeFacts => ({ cpus: [0], memoryBytes: 1, gpus: ids.map(gpu), leftOut: [{ id: 'GPU-x', name: 'NVIDIA L4', why: 'in use by process 7 (python3), which this run did not start' }] });

test('a device that another run has leased is left out, its process named, and free again afterwards', async () => {
  const home = makeTempDir();
  const first = await leaseDevices(home, ['GPU-b']);
  const { node, release } = await leaseNode(home, nodeOf('GPU-a', 'GPU-b'));
  onTestFinished(release);
  expect(node.gpus.map(({ id }) => id)).toEqual(['GPU-a']);
  expect(node.leftOut?.map(describeLeftOut)).toEqual([
    'NVIDIA L4 GPU-x: in use by process 7 (python3), which this run did not start', `NVIDIA L4 GPU-b: leased by another run (pid ${process.pid})`,
  ]);
  first.release();
  release();
  const again = await leaseNode(home, nodeOf('GPU-a', 'GPU-b'));
  expect(again.node.gpus).toHaveLength(2);
  again.release();
});

test('GPUs that are all taken are an error and no reason to use the CPU', async () => {
  const home = makeTempDir();
  const first = await leaseDevices(home, ['GPU-a']);
  onTestFinished(first.release);
  await expect(leaseNode(home, nodeOf('GPU-a'))).rejects.toMatchObject({ code: 'DEVICES_BUSY' });
  await expect(leaseNode(home, nodeOf())).rejects.toThrow('no GPU is free: NVIDIA L4 GPU-x: in use by process 7');
});

test('GPUs that the user leaves out are no GPUs that somebody took: the CPU is used', async () => {
  const node = nodeOf();
  const leftOut = [...node.leftOut!, { id: 'CUDA_VISIBLE_DEVICES', name: 'CUDA_VISIBLE_DEVICES', why: 'it is empty' }];
  expect((await leaseNode(makeTempDir(), { ...node, leftOut })).node.gpus).toEqual([]);
});

test('a driver in trouble is no device that somebody took: the CPU is used', async () => {
  const why = 'nvidia-smi ended with exit code 9: NVIDIA-SMI has failed';
  const { node } = await leaseNode(makeTempDir(), { cpus: [0], memoryBytes: 1, gpus: [], leftOut: [{ id: 'nvidia-smi', name: 'nvidia-smi', why }] });
  expect(node.leftOut?.map(describeLeftOut)).toEqual([why]);
});
