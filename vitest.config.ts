import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 90_000,
    // Two cores is what a small CI machine has; more workers only make the timing tests noisy.
    maxWorkers: 2,
  },
});
