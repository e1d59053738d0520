/** Keeps the heap of a run that waits for a cluster near what is alive in it. */

/**
 * V8 lets garbage pile up for as long as there is room: among 200 changes a second a trace that needs 8 MB holds 50 MB
 * after a minute. Its young space therefore stays as large as it is now, and its old one grows by little. V8 reads both
 * flags at each collection (heap.cc: CheckNewSpaceExpansionCriteria, ShouldOptimizeForMemoryUsage), so they may change.
 */
const thrift = ['--semi-space-growth-factor=1', '--optimize-for-size'];
/** The second of them implies a flag that is only read at the start, and has to be taken back all the same. */
const asBefore = ['--semi-space-growth-factor=2', '--no-optimize-for-size', '--max-semi-space-size=0'];

/** Majors of V8 (Node 20 to 25) that were seen to know these flags: one that does not would complain on stderr. */
const known = new Set(['11', '12', '13', '14']);

/** ms after the start: by then the DELETE is on its way, and all that comes after it is small and seldom. */
const startUp = 150;

/** Does not keep the process alive. Whoever gave Node flags of their own has decided. */
export function saveHeapAfterStart(): void {
  const isTuned = process.execArgv.length > 0 || process.env['NODE_OPTIONS'];
  if (isTuned || !known.has(process.versions.v8.split('.')[0] ?? '')) return;
  setTimeout(() => void saveHeap(), startUp).unref();
}

/**
 * V8 takes the code that was kept for the next start (bin/load.js, Node's own compile cache) only if it bears the flags of
 * that start, so they are put back before it is kept.
 */
async function saveHeap(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  const set = (flags: readonly string[]): void => flags.forEach((flag) => setFlagsFromString(flag));
  set(thrift);
  process.prependOnceListener('exit', () => set(asBefore));
}
