import { defineConfig } from 'vitest/config';

/** What takes too long for every change: many seeds, many stories. A file named `*.sweep.ts` belongs here. */
export default defineConfig({
  test: {
    include: ['test/**/*.sweep.ts'],
    passWithNoTests: true,
    testTimeout: 30 * 60_000,
    maxWorkers: 2,
    globalSetup: 'test/helpers/temporary-folder.ts',
  },
});
