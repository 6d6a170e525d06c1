// Two projects: `unit` runs in parallel and first; `engine` uses the real engine and real kills, one file at a time.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    passWithNoTests: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'apps/cli/src/**/*.test.ts', 'test/{architecture,contract,support}/**/*.test.ts', 'setup/*.test.mjs'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'engine',
          include: ['test/{e2e,chaos}/**/*.test.ts'],
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 900_000,
          hookTimeout: 900_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
