import type { Plan } from '@assay/planner';
import type { WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import { describeReplica, sayWhose, toLoadError } from './failed-replica.ts';

const handle = { name: 'engine-1', logFile: '/run/logs/engine-1.log' } as WorkerHandle;
const name = (plan: Partial<Plan>) => describeReplica({ number: 1, handle, plan: plan as Plan }).name;

test.each([
  ['its GPUs', { data: 2, deviceSets: [['GPU-a', 'GPU-b'], ['GPU-c', 'GPU-d']], cpuSets: [] }, 'engine-1 on GPU-c, GPU-d'],
  ['a core', { data: 2, deviceSets: [], cpuSets: [[0], [1]] }, 'engine-1 on core 1'],
  ['its cores', { data: 2, deviceSets: [], cpuSets: [[0, 1], [2, 3]] }, 'engine-1 on cores 2, 3'],
  ['nothing where it has the whole machine', { data: 1, deviceSets: [], cpuSets: [[0, 1], [2, 3]] }, 'engine-1'],
] as const)('a replica is named with %s', (_, plan, expected) => {
  expect(name(plan as unknown as Plan)).toBe(expected);
});

test('the error of a load says whose it is, what helps, and which log tells more', () => {
  const error = toLoadError({ class: 'port', message: 'address already in use' }, { name: 'engine-1 on GPU-c', logFile: handle.logFile });
  expect(error.message).toBe('engine-1 on GPU-c cannot load the model (port): address already in use');
  expect(error.remedy).toMatch(/^Look at what takes the ports of this machine; .* The log is \/run\/logs\/engine-1\.log\.$/);
});

test('a message names its replica where there are several', () => {
  const failed = { name: 'engine-1 on core 1', logFile: '' };
  expect([sayWhose('no memory', { data: 2 }, failed), sayWhose('no memory', { data: 1 }, failed)]).toEqual(['engine-1 on core 1: no memory', 'no memory']);
});
