/** Min, median and max of measured numbers: a mean would hide both the floor and the outlier. */
export interface Spread {
  min: number;
  median: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  return { min: sorted[0] ?? NaN, median: quantile(sorted, 0.5), max: sorted.at(-1) ?? NaN };
}

/** `sorted`: values in ascending order. Interpolates linearly between two values. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}
