import { defineConfig } from 'vitest/config';

/** Of functions without I/O or state: a world of their own for each file would cost more than most of their tests. */
const pure = ['test/{infer,verdict,fuzz}/**/*.test.ts', 'test/goldens.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 90_000,
    // Two cores is what a small CI machine has; more workers only make the timing tests noisy.
    maxWorkers: 2,
    globalSetup: 'test/helpers/temporary-folder.ts',
    // A sweep leaves little but young garbage; with V8's usual room for it collecting takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'rest', include: ['test/**/*.test.ts'], exclude: pure } },
    ],
  },
});
