import { expect, test } from 'vitest';
import { readNodeFacts } from './node-facts.ts';
import { writeStandIn } from './nvidia-smi-fixture.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';

test('this machine has cores, memory, shared memory and instruction sets, and the GPUs that nvidia-smi lists', async () => {
  const uuid = 'GPU-8932f937-d72c-4106-c12f-20bd9faed9f6';
  const node = await readNodeFacts(writeStandIn(makeTempDir(), { gpus: [{ uuid }] }));
  expect(node.cpus.length).toBeGreaterThan(0);
  expect(node.memoryBytes).toBeGreaterThan(0);
  expect(node.numaNodes).toBeGreaterThan(0);
  expect(node.gpus.map(({ id }) => id)).toEqual([uuid]);
  expect(node).toMatchObject({ leftOut: [], driver: '550.54.15', shmBytes: expect.any(Number), instructionSets: expect.any(Array), cgroup: expect.any(Object) });
});

test('without a driver there are no GPUs, and nothing is said', async () => {
  expect(await readNodeFacts({ PATH: makeTempDir() })).toMatchObject({ gpus: [], leftOut: [] });
});
