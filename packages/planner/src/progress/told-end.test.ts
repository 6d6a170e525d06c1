import { expect, test } from 'vitest';
import { ToldEnd } from './told-end.ts';

test('a steady end goes half of the way to a new forecast in a second', () => {
  const told = new ToldEnd();
  expect(told.tell(100, { atSeconds: 0, isSteady: true })).toBe(100);
  expect(told.tell(199, { atSeconds: 1, isSteady: true })).toBe(149);
});

test('before it is steady the forecast is told as it is, and never as less than nothing', () => {
  const told = new ToldEnd();
  told.tell(100, { atSeconds: 0, isSteady: false });
  expect(told.tell(30, { atSeconds: 1, isSteady: false })).toBe(30);
  told.tell(0, { atSeconds: 2, isSteady: true });
  expect(told.tell(0, { atSeconds: 100, isSteady: true })).toBe(0);
});
