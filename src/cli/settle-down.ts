/** A run that waits for a cluster needs little: its heap is kept near what is alive in it, and little of its code is optimized. */

/**
 * V8 lets garbage pile up for as long as there is room: among 200 changes a second a trace that needs 8 MB holds 50 MB
 * after a minute. Its young space therefore stays as large as it is now; V8 reads this flag, and the next two, at each
 * collection (heap.cc: CheckNewSpaceExpansionCriteria), so it may change. `--optimize-for-size` would spare some more, and
 * costs each mark 1 ms.
 */
const thrift = ['--semi-space-growth-factor=1', '--semi-space-growth-factor=2'] as const;

/**
 * V8's helpers do a part of each collection, and waking them can cost more than they do: glibc's pthread_cond_signal waits for
 * those who were woken before and have not run yet (nptl/pthread_cond_signal.c), 5 to 13 ms where cores are few and busy, for
 * what takes 1.5 ms alone. `--single-threaded-gc` says the same of all collections, but not once V8 has started.
 */
const alone = [
  ['--no-parallel-scavenge', '--parallel-scavenge'],
  ['--no-concurrent-array-buffer-sweeping', '--concurrent-array-buffer-sweeping'],
] as const;

/**
 * By major of V8 (Node 20 to 25), what makes a function ten times as hot before it is optimized, and the default. Compiling
 * what is called 200 times a second took more time than it saved in a trace of half a minute, and stood
 * between a line and its mark where cores are few; what megabytes of log go through is optimized all the same. A V8 that is
 * not in the table would complain of these flags on stderr.
 */
const patience: Readonly<Record<string, readonly [settled: string, byDefault: string]>> = {
  11: ['--interrupt-budget=675840', '--interrupt-budget=67584'],
  12: ['--invocation-count-for-turbofan=30000', '--invocation-count-for-turbofan=3000'],
  13: ['--invocation-count-for-turbofan=30000', '--invocation-count-for-turbofan=3000'],
  14: ['--invocation-count-for-turbofan=30000', '--invocation-count-for-turbofan=3000'],
};

/** ms after the start: before that it would stand before the DELETE, much later V8 would have begun to optimize. */
const startUp = 80;

/** Does not keep the process alive. */
export const settleDownAfterStart = (): void => void setTimeout(() => void settleDown(), startUp).unref();

/** Whoever gave Node flags of their own has decided. */
async function settleDown(): Promise<void> {
  const isTuned = process.execArgv.length > 0 || process.env['NODE_OPTIONS'];
  const patient = patience[process.versions.v8.split('.')[0] ?? ''];
  if (isTuned || !patient) return;
  const { setFlagsFromString } = await import('node:v8');
  const flags = [patient, thrift, ...alone];
  flags.forEach(([settled]) => setFlagsFromString(settled));
  // V8 takes the code that is kept for the next start (bin/load.js, Node's own compile cache) only if it bears the flags of
  // that start.
  process.prependOnceListener('exit', () => flags.forEach(([, byDefault]) => setFlagsFromString(byDefault)));
}
