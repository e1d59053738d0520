/** Latencies in buckets of growing width: each is 5 % wider than the one before, so a quantile is off by at most 2.5 %. */
const growth = Math.log(1.05);
/** ms: what is faster counts as this. */
const least = 0.01;
/** The bucket of ten minutes: what is slower counts as this. */
const lastBucket = 368;

/** How many latencies fell into which bucket. */
export type LatencyHistogram = ReadonlyMap<number, number>;

/** The bucket of a latency in ms. */
export const bucketOf = (ms: number): number =>
  Math.min(lastBucket, Math.max(0, Math.round(Math.log(Math.max(ms, least) / least) / growth)));

/** The middle of a bucket, in ms, with three digits. */
const latencyOf = (bucket: number): number => Number((least * Math.exp(bucket * growth)).toPrecision(3));

/** The latency (ms) that a share of all did not exceed; undefined where nothing was measured. */
export function quantile(histogram: LatencyHistogram, share: number): number | undefined {
  const buckets = [...histogram].sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= share * total) return latencyOf(bucket);
  }
  return undefined;
}
