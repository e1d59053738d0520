import type { Fact, Trace } from '../trace.ts';

/** What every fold needs of an observation: its number and its arrival. */
export interface Seen {
  readonly seq: number;
  readonly at: number;
}

/** Keeps one line about an observation, so that evidence can be read by a person. The first line of a `seq` stays. */
export function note(trace: Trace, seen: Seen, what: string): Trace {
  if (trace.notes?.seq === seen.seq) return trace;
  return { ...trace, notes: { seq: seen.seq, at: seen.at, what, ...(trace.notes ? { earlier: trace.notes } : {}) } };
}

export const factOf = <T>(value: T, seen: Seen): Fact<T> => ({ value, seq: seen.seq, at: seen.at });

/** A copy of `map` with one entry set. */
export const withEntry = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> =>
  new Map(map).set(key, value);
