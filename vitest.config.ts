import { defineConfig } from 'vitest/config';

/** Functions without I/O. */
const pure = ['test/{infer,verdict,fuzz}/**/*.test.ts', 'test/goldens.test.ts'];

/** A server and its clients in real time: they mostly wait, so more of them run at once; a stall that costs a run its streams is tried once more. */
const waiting = [
  'test/{cli,demo}/**/*.test.ts',
  'test/kube/{http2,exec-plugin}.test.ts',
  'test/{packaging/kubectl,render/live-pty}.test.ts',
];

/** Nothing here leaves state behind in a module: a world of its own for each file would cost more than most of their tests. */
const shared = { isolate: false };

/** They hold clocks to 100 ms, and to how long their own process got no turn: what a stall of the machine still breaks is tried once more. */
const timed = ['test/probe/**/*.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 90_000,
    // Two cores are what a small CI machine has; more workers only make the timing tests noisy.
    maxWorkers: 2,
    maxConcurrency: 8,
    globalSetup: 'test/helpers/temporary-folder.ts',
    // A sweep leaves little but young garbage; with V8's usual room for it collecting takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      { extends: true, test: { ...shared, name: 'pure', include: pure, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          ...shared,
          name: 'rest',
          include: ['test/**/*.test.ts'],
          exclude: [...pure, ...waiting, ...timed],
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'timed', include: timed, retry: 1, maxWorkers: 3, sequence: { groupOrder: 3 } } },
      {
        extends: true,
        test: { ...shared, name: 'waiting', include: waiting, retry: 1, maxWorkers: 4, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
