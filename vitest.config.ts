// `unit` runs first. `simulated` starts whole runs on the simulated engine, and the set-up: neither fills more than one core, so two
// files at a time.
// `engine` uses the real engine, which fills them all: one file at a time. vitest puts a group of number 0 last.
import { defineConfig } from 'vitest/config';
import { SetupFirst } from './test/support/setup-first.ts';

export default defineConfig({
  test: {
    passWithNoTests: false,
    sequence: { sequencer: SetupFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'apps/cli/src/**/*.test.ts', 'test/{architecture,contract,support}/**/*.test.ts', 'setup/*.test.mjs'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'simulated',
          include: ['test/{simulated,setup}/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 900_000,
          hookTimeout: 900_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'engine',
          include: ['test/e2e/**/*.test.ts'],
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 900_000,
          hookTimeout: 900_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
