/** Names and counts in sentences. Pure. */
import { sumByKey } from '../model/probe-numbers.ts';

/** `a`, `a and b`, `a, b and c`. */
export const list = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;

/** At most `most` words, then how many are left out: `a`, `b`, `37 more`. */
export const few = (words: readonly string[], most = 4): readonly string[] =>
  words.length > most ? [...words.slice(0, most), `${words.length - most} more`] : words;

/** `app still ran`, `app and proxy probably still ran`, of the containers of a pod that was removed. */
export function stillRan(containers: readonly { readonly name: string; readonly probable?: boolean }[]): string {
  const names = list(few(containers.map(({ name }) => name))) || 'its containers';
  return `${names}${containers.some(({ probable }) => probable) ? ' probably' : ''} still ran`;
}

/** `Service a`, `Services a and b`. */
export const servicesNamed = (names: readonly string[]): string =>
  `Service${names.length === 1 ? '' : 's'} ${list(names)}`;

export const plural = (count: number, singular: string, many = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : many}`;

/** Distinct values with the sums of their counts, most frequent first. */
export const byFrequency = <T>(counted: readonly (readonly [value: T, count: number])[]): [value: T, count: number][] =>
  [...sumByKey(counted)].sort(([, a], [, b]) => b - a);
