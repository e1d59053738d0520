/** Names and counts in sentences. Pure. */
import { sumByKey } from '../model/probe-numbers.ts';

/** `a`, `a and b`, `a, b and c`. */
export const list = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;

/** At most `most` words, then how many are left out: `a`, `b`, `37 more`. */
export const few = (words: readonly string[], most = 4): readonly string[] =>
  words.length > most ? [...words.slice(0, most), `${words.length - most} more`] : words;

/** `Service a`, `Services a and b`. */
export const servicesNamed = (names: readonly string[]): string =>
  `Service${names.length === 1 ? '' : 's'} ${list(names)}`;

export const plural = (count: number, singular: string, many = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : many}`;

/** Distinct values with the sums of their counts, most frequent first. */
export const byFrequency = <T>(counted: readonly (readonly [value: T, count: number])[]): [value: T, count: number][] =>
  [...sumByKey(counted)].sort(([, a], [, b]) => b - a);
