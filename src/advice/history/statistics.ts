/** Figures of many exits: quantiles and a histogram. Pure. */

export interface Quantiles {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** By nearest rank: each is a value that was measured. Undefined of nothing. */
export function quantilesOf(values: readonly number[]): Quantiles | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

export interface Bucket {
  from: number;
  to: number;
  count: number;
}

/** Equal buckets of a round width from 0 to the largest value, at most `most`. The last one holds its end. */
export function histogramOf(values: readonly number[], most = 12): Bucket[] {
  const max = Math.max(0, ...values);
  const width = roundWidth(max / most);
  const count = Math.max(1, Math.ceil(max / width + 1e-9));
  const counts = new Array<number>(count).fill(0);
  for (const value of values) {
    const at = Math.min(count - 1, Math.floor(value / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((each, at) => ({ from: at * width, to: (at + 1) * width, count: each }));
}

/** 1, 2 or 5 times a power of ten, and no less than `least`. */
function roundWidth(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 0.01)));
  const step = [1, 2, 5, 10].find((one) => one * power >= least - 1e-9) ?? 10;
  return Number((step * power).toPrecision(3));
}
