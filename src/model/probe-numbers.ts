/** Sums and latencies of probes. */
import type { ProbeTally } from './probe-observation.ts';

export const sumOf = (tallies: readonly (ProbeTally | undefined)[]): ProbeTally => ({
  sent: tallies.reduce((sum, tally) => sum + (tally?.sent ?? 0), 0),
  failed: tallies.reduce((sum, tally) => sum + (tally?.failed ?? 0), 0),
});

/** Width of the latency buckets: each is 5 % wider than the one before, so a quantile is off by at most 2.5 %. */
const bucketGrowth = Math.log(1.05);
/** ms; lower latencies count as this. */
const minLatencyMs = 0.01;

/** The bucket of a latency in ms; at most that of ten minutes. */
export const bucketOf = (ms: number): number =>
  Math.min(368, Math.max(0, Math.round(Math.log(Math.max(ms, minLatencyMs) / minLatencyMs) / bucketGrowth)));

/** The middle of a bucket, in ms, with three digits. */
const latencyOf = (bucket: number): number => Number((minLatencyMs * Math.exp(bucket * bucketGrowth)).toPrecision(3));

/** The latency (ms) that `share` of all answers did not exceed. `histogram`: the number of latencies per bucket. */
export function quantile(histogram: ReadonlyMap<number, number>, share: number): number | undefined {
  const buckets = [...histogram].sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = share * total;
  for (const [bucket, count] of buckets) if ((left -= count) <= 0) return latencyOf(bucket);
  return undefined;
}

/** The sum of the counts of each key, in the order of the first occurrence. */
export function sumByKey<K>(counts: readonly (readonly [key: K, count: number])[]): Map<K, number> {
  const sums = new Map<K, number>();
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}
