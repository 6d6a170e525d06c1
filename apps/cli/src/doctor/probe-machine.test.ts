import { expect, test } from 'vitest';
import { writeStandIn } from '../../../../packages/pipeline/src/node/nvidia-smi-fixture.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { probeMachine } from './probe-machine.ts';

test('a GPU that another process is on is left out, with the process named', async () => {
  const env = writeStandIn(makeTempDir(), {
    gpus: [{ uuid: 'GPU-a' }, { uuid: 'GPU-b' }],
    // Nobody's child: no process of a test descends from 1 alone.
    processes: [{ uuid: 'GPU-b', pid: 1, name: 'python3' }],
  });
  const { gpus, leftOut } = await probeMachine(makeTempDir(), env);
  expect(gpus).toHaveLength(1);
  expect(leftOut).toMatchObject([{ id: 'GPU-b', why: expect.stringContaining('in use by process 1 (python3)') }]);
});

test('a choice of devices that a run would refuse is told, and does not end the check', async () => {
  const env = { ...writeStandIn(makeTempDir(), { gpus: [{ uuid: 'GPU-a' }] }), CUDA_VISIBLE_DEVICES: '3' };
  const { gpus, leftOut } = await probeMachine(makeTempDir(), env);
  expect(gpus).toEqual([]);
  expect(leftOut).toMatchObject([{ id: 'CUDA_VISIBLE_DEVICES', why: 'CUDA_VISIBLE_DEVICES names 3, and this node has 0 (GPU-a): a run would be refused' }]);
});

test('a driver that fails is named with what it said', async () => {
  const env = writeStandIn(makeTempDir(), { gpus: [], failing: { '--query-gpu': 'NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver.' } });
  expect((await probeMachine(makeTempDir(), env)).leftOut).toMatchObject([{ id: 'nvidia-smi', why: expect.stringContaining('couldn\'t communicate') }]);
});
