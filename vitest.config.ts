import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 90_000,
    // Two cores is what a small CI machine has; more workers only make the timing tests noisy.
    maxWorkers: 2,
    // A sweep leaves little but young garbage; with V8's usual room for it collecting takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
  },
});
