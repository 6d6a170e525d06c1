import { expect, test } from 'vitest';
import { readAllowedCpus, selectVisible } from './node-facts.ts';

const gpu = (id: string) => ({ id, name: 'GPU', memoryBytes: 1, freeBytes: 1 });
const gpus = [gpu('GPU-8932f937-aaaa'), gpu('GPU-11111111-bbbb'), gpu('MIG-22222222-cccc')];

test('the cores of the process\'s affinity are read, not those of the machine', () => {
  expect(readAllowedCpus('Name:\tnode\nCpus_allowed_list:\t0,2-4,7\n')).toEqual([0, 2, 3, 4, 7]);
});

test('without a choice every GPU is visible', () => {
  expect(selectVisible(gpus, undefined)).toEqual(gpus);
});

test('the user\'s choice holds, by number, UUID or the beginning of one', () => {
  expect(selectVisible(gpus, '1').map(({ id }) => id)).toEqual(['GPU-11111111-bbbb']);
  expect(selectVisible(gpus, 'GPU-8932f937').map(({ id }) => id)).toEqual(['GPU-8932f937-aaaa']);
  expect(selectVisible(gpus, 'MIG-22222222-cccc, 0').map(({ id }) => id)).toEqual(['MIG-22222222-cccc', 'GPU-8932f937-aaaa']);
});

test('an empty choice means no GPU', () => {
  expect(selectVisible(gpus, '')).toEqual([]);
});
