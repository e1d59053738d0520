import { defineConfig } from 'vitest/config';

/** Functions without I/O or state: a world of its own for each file would cost more than most of their tests. */
const pure = ['test/{infer,verdict,fuzz}/**/*.test.ts', 'test/goldens.test.ts'];

/** The built command against a server, in real time: they mostly wait, so more of them run at once. */
const waiting = ['test/cli/**/*.test.ts', 'test/demo/**/*.test.ts', 'test/kube/http2.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 90_000,
    // Two cores are what a small CI machine has; more workers only make the timing tests noisy.
    maxWorkers: 2,
    globalSetup: 'test/helpers/temporary-folder.ts',
    // A sweep leaves little but young garbage; with V8's usual room for it collecting takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: 'rest',
          include: ['test/**/*.test.ts'],
          exclude: [...pure, ...waiting],
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'waiting', include: waiting, maxWorkers: 4, sequence: { groupOrder: 2 } } },
    ],
  },
});
