import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Servers and clients, or commands, in real time. They mostly wait, so many run at once. One retry, because a stall of the
 * machine can break the streams of a run.
 */
const waiting = [
  'test/{cli,demo}/**/*.test.ts',
  'test/kube/{client,exec-plugin,http2,secrets,watch}.test.ts',
  'test/packaging/{build,executable,kubectl}.test.ts',
  'test/output/live-pty.test.ts',
  // Checks times to 100 ms, and allows for stalls of its own process.
  'test/probe/**/*.test.ts',
  'test/programs/stop-behaviour.test.ts',
  'test/rollout/{held-up,ndjson,progress}.test.ts',
  'test/run/{lost-answers,overtaken}.test.ts',
  'test/try/try.test.ts',
  'test/watch/{for-programs,many-exits,stories,unattended}.test.ts',
];

/** They take longest, which the size of their files does not show: begun last, each would run alone at the end. */
const slow = [
  ...['sessions', 'try', 'code-cache', 'over-http', 'http2', 'unattended', 'many-exits', 'kubectl', 'build'],
  ...['suspended', 'exec-plugin', 'no-silent-waiting', 'run', 'counts', 'cases', 'simulated', 'matrix'],
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const at = slow.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at < 0 ? slow.length : at;
    };
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** No test leaves state in a module. A module graph for each file would take longer than most tests. */
const shared = { isolate: false };

/**
 * V8 optimizes later than by default: most code of tests runs too rarely to be worth it, which takes a tenth of the time. Newer
 * versions of Node refuse the flag.
 */
const plain = { ...shared, execArgv: process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [] };

export default defineConfig({
  test: {
    // The slowest test takes 20 s. Beside other work a machine may be ten times as slow.
    testTimeout: 250_000,
    hookTimeout: 250_000,
    maxConcurrency: 8,
    // Both projects import mostly the same files: each is transformed once.
    sequence: { sequencer: SlowFirst },
    experimental: { fsModuleCache: true },
    globalSetup: 'test/helpers/temporary-folder.ts',
    // Tests with many cases make much short-lived garbage: with V8's default size, collecting it takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    // For two cores, which is what a small CI machine has. One group after the other.
    projects: [
      {
        extends: true,
        test: {
          ...plain,
          name: 'computing',
          include: ['test/**/*.test.ts'],
          exclude: waiting,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...plain,
          name: 'waiting',
          include: waiting,
          retry: 1,
          maxWorkers: 7,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
