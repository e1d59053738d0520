/** Measures podexit and a reference in turns, so that a busy machine slows both: only the ratio is meaningful. */
import { spreadOf, type Spread } from './spread.ts';

export interface Contest {
  name: string;
  unit: 'ms' | 'MiB' | 'µs' | 'requests';
  ours: Spread;
  /** Absent if there is nothing to compare with (kubectl is missing) or the limit is absolute. */
  reference?: { name: string } & Spread;
  /** The ratio of the medians; absent without a reference. */
  ratio?: number;
  promise?: Promised;
  note?: string;
}

/** What the README promises: a ratio or an absolute figure. */
export interface Promised {
  of: string;
  value: number;
  most: number;
}

interface Measure {
  name: string;
  unit: Contest['unit'];
  rounds: number;
  ours: () => Promise<number>;
  reference?: { name: string; measure: () => Promise<number> } | undefined;
  promised?: number;
  note?: string;
}

/** A first round of each is not counted: it warms the file cache. */
export async function contest({ name, unit, rounds, ours, reference, promised, note }: Measure): Promise<Contest> {
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const [a, b] = [await ours(), await reference?.measure()];
    if (round < 0) continue;
    mine.push(a);
    if (b !== undefined) theirs.push(b);
  }
  const spread = spreadOf(mine);
  const rest = note === undefined ? {} : { note };
  if (!reference || theirs.length === 0) return { name, unit, ours: spread, ...rest };
  return { name, unit, ours: spread, ...against(spread, reference.name, spreadOf(theirs), promised), ...rest };
}

/** The part of a contest that needs a reference. */
export function against(
  ours: Spread,
  name: string,
  reference: Spread,
  promised?: number,
): Pick<Contest, 'reference' | 'ratio' | 'promise'> {
  const ratio = ours.median / reference.median;
  return {
    reference: { name, ...reference },
    ratio,
    ...(promised === undefined ? {} : { promise: { of: 'ratio', value: ratio, most: promised } }),
  };
}
