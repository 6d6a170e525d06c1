import { expect, test } from 'vitest';
import { describeDamage } from './damage.ts';

test.each([
  ['/r/results/1-s1-1.ndjson', 'runs its requests again'],
  ['/r/manifest.json', 'seals the run again'],
  ['/r/plan.json', 'makes it again'],
  ['/r/requests/index.bin', 'makes it again'],
  ['/r/run.json', 'another --output_path'],
  ['/r/identity.json', 'another --output_path'],
  ['/r/events.ndjson', 'another --output_path'],
])('damage to %s says what that file can be replaced by', (file, remedy) => {
  const error = describeDamage(file, 3, 'not JSON');
  expect(error).toMatchObject({ code: 'RESULTS_DAMAGED', message: `${file}:3: not JSON`, exitCode: 2 });
  expect(error.remedy).toContain(remedy);
});

test('damage to a file that has no lines is said of the file', () => {
  expect(describeDamage('/r/requests/index.bin', undefined, 'not a request index').message).toBe('/r/requests/index.bin: not a request index');
});
