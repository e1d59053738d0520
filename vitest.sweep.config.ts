import { defineConfig } from 'vitest/config';

/** Tests that run here with many more seeds or cases than in `npm test`. `*.sweep.ts` run only here. */
const long = [
  'test/advice/{edited-text,fix,one-number}.test.ts',
  'test/cli/over-http.test.ts',
  'test/fuzz/*.test.ts',
  'test/faults/{matrix,big-namespace}.test.ts',
  'test/probe/{hostile,schedule}.test.ts',
  'test/infer/{robust,cap-at-now,delivery-lag,recordings,simulated,simulated-over-http,troubled,without-events}.test.ts',
  'test/advice/why.test.ts',
  'test/{goldens,output/{every-output,html,live,replayed-order},verdict/contradictions}.test.ts',
];

export default defineConfig({
  test: {
    include: ['test/**/*.sweep.ts', ...long],
    env: { PODEXIT_SWEEP: '1' },
    testTimeout: 30 * 60_000,
    maxWorkers: 2,
    globalSetup: 'test/helpers/temporary-folder.ts',
    execArgv: ['--max-semi-space-size=64'],
  },
});
