/** A run that waits for a cluster needs little: its heap is kept near what is alive in it, and little of its code is optimized. */
import type { Script } from 'node:vm';

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
 * By major of V8 (Node 20 to 25), what says how hot a function is before it is optimized, and what that is by default, with
 * the optimizing compilers that a machine may have or not; ten times as hot is asked for. Compiling what is called 200 times a
 * second took more time than it saved in a trace of half a minute, and stood between a line and its mark where cores are few;
 * what megabytes of log go through is optimized all the same. A V8 that is not in the table would complain of these flags on
 * stderr.
 */
const patience: Readonly<Record<string, { flag: string; byDefault: readonly number[] }>> = {
  11: { flag: '--interrupt-budget', byDefault: [67584] },
  12: { flag: '--invocation-count-for-turbofan', byDefault: [3000, 10000] },
  13: { flag: '--invocation-count-for-turbofan', byDefault: [10000, 3000] },
  14: { flag: '--invocation-count-for-turbofan', byDefault: [16000, 10000, 3000] },
};

/**
 * ms after the start: it takes one or two, which would stand before the DELETE or in the burst of news that it sets off; much
 * later V8 would have begun to optimize.
 */
const startUp = 300;

/** Does not keep the process alive. */
export const settleDownAfterStart = (): void => void setTimeout(() => void settleDown(), startUp).unref();

/**
 * For a burst of news that is about to come: one collection or two fall into it. Loading what sets flags takes one or two ms, so
 * nothing may be due now.
 */
export const collectAlone = (): void => void (knownPatience() && setFlags(alone));

async function settleDown(): Promise<void> {
  const known = knownPatience();
  if (!known) return;
  const [{ setFlagsFromString }, { Script }] = await Promise.all([import('node:v8'), import('node:vm')]);
  const be = (value: number): void => setFlagsFromString(`${known.flag}=${value}`);
  const usual = valueOf(known.byDefault, be, new Script('0'));
  await setFlags([[`${known.flag}=${10 * usual}`, `${known.flag}=${usual}`], thrift, ...alone]);
}

/** None where V8 is not to be tuned: one that is not known, or whoever gave Node flags of their own has decided. */
const knownPatience = () =>
  process.execArgv.length > 0 || process.env['NODE_OPTIONS']
    ? undefined
    : patience[process.versions.v8.split('.')[0] ?? ''];

/**
 * Each with what undoes it: V8 takes the code that is kept for the next start (bin/load.js, Node's own compile cache) only if it
 * bears the flags of that start.
 */
async function setFlags(flags: readonly (readonly [settled: string, byDefault: string])[]): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  flags.forEach(([settled]) => setFlagsFromString(settled));
  process.prependOnceListener('exit', () => flags.forEach(([, byDefault]) => setFlagsFromString(byDefault)));
}

/** V8 tells no flag's value (and `--v8-options` not the one in force), but a code cache bears a hash of all of them. */
function valueOf(values: readonly number[], be: (value: number) => void, probe: Script): number {
  const before = probe.createCachedData();
  const isIt = (value: number): boolean => {
    be(value);
    return probe.createCachedData().equals(before);
  };
  return values.find(isIt) ?? values[0] ?? 0;
}
