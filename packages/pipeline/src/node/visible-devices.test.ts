import { expect, test } from 'vitest';
import { selectVisible } from './visible-devices.ts';

const devices = [
  { id: 'GPU-8932f937-aaaa', index: 0 }, { id: 'GPU-11111111-bbbb', index: 1 },
  { id: 'MIG-22222222-cccc', index: 2, parent: 'GPU-33333333-dddd' }, { id: 'MIG-23333333-eeee', index: 2, parent: 'GPU-33333333-dddd' },
];
const select = (visible: string | undefined) => selectVisible(devices, visible).map(({ id }) => id);

test('without a choice every device is visible', () => {
  expect(select(undefined)).toEqual(devices.map(({ id }) => id));
});

test.each([
  ['GPU-8932f937', ['GPU-8932f937-aaaa']], ['MIG-22222222-cccc', ['MIG-22222222-cccc']], ['1', ['GPU-11111111-bbbb']], ['', []], [' ', []],
  ['MIG-23333333-eeee, 0', ['MIG-23333333-eeee', 'GPU-8932f937-aaaa']], ['2', ['MIG-22222222-cccc']], ['GPU-33333333-dddd', ['MIG-22222222-cccc']], ['GPU-3333', ['MIG-22222222-cccc']],
  ['-1', []], ['1,-1,0', ['GPU-11111111-bbbb']], ['NoDevFiles', []],
])('CUDA_VISIBLE_DEVICES=%s is read by opaque ids, in the user\'s order', (visible, ids) => {
  expect(select(visible)).toEqual(ids);
});

test.each([
  ['1,1', 'GPU-11111111-bbbb twice, the second time as 1'], ['0,GPU-8932f937-aaaa', 'GPU-8932f937-aaaa twice'], ['GPU-', 'GPU-, and so begin GPU-8932f937-aaaa and GPU-11111111-bbbb'],
  ['MIG-2', 'MIG-2, and so begin MIG-22222222-cccc and MIG-23333333-eeee'],
])('CUDA_VISIBLE_DEVICES=%s is refused as one that names a device which is not there is', (visible, problem) => {
  expect(() => select(visible)).toThrow(expect.objectContaining({ code: 'DEVICE_UNKNOWN', exitCode: 3, message: `CUDA_VISIBLE_DEVICES names ${problem}` }));
});

test('names that fit nothing are refused, a number never taken for the beginning of an id', () => {
  expect(() => select('7,8932f937,0,abc')).toThrow('CUDA_VISIBLE_DEVICES names 7, 8932f937, abc, and this node has 0 (GPU-8932f937-aaaa), 1');
});
