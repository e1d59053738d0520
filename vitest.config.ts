import { defineConfig } from 'vitest/config';

/** A server and its clients, or commands, in real time: they mostly wait, so more of them run at once; a stall that costs a run its streams is tried once more. */
const waiting = [
  'test/{cli,demo}/**/*.test.ts',
  'test/kube/{http2,exec-plugin}.test.ts',
  'test/packaging/{build,executable,kubectl}.test.ts',
  'test/render/live-pty.test.ts',
  'test/rollout/{held-up,ndjson,progress}.test.ts',
];

/** They hold clocks to 100 ms, and to how long their own process got no turn: what a stall of the machine still breaks is tried once more. */
const timed = ['test/probe/**/*.test.ts', 'test/cli/many-pods.test.ts'];

/** Nothing here leaves state behind in a module: a world of its own for each file would cost more than most of their tests. */
const shared = { isolate: false };

export default defineConfig({
  test: {
    testTimeout: 90_000,
    maxConcurrency: 8,
    globalSetup: 'test/helpers/temporary-folder.ts',
    // A sweep leaves little but young garbage; with V8's usual room for it collecting takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    // For two cores, which is what a small CI machine has. One group after the other: timing tests need a quiet machine.
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'computing',
          include: ['test/**/*.test.ts'],
          exclude: [...waiting, ...timed],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'waiting',
          include: waiting,
          exclude: timed,
          retry: 1,
          maxWorkers: 8,
          sequence: { groupOrder: 2 },
        },
      },
      { extends: true, test: { name: 'timed', include: timed, retry: 1, maxWorkers: 4, sequence: { groupOrder: 3 } } },
    ],
  },
});
