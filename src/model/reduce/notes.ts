import type { ContainerFacts, Fact, Seen, Trace } from '../trace.ts';

/** Separates the facts of one observation. */
export const togetherWith = '; also ';

/** Facts of a container about which nothing is known. */
export const noContainerFacts: ContainerFacts = { log: { signalLines: [] } };

/** Adds a fact to the line about an observation, which explains the evidence to people. */
export function addNote(trace: Trace, seen: Seen, what: string): Trace {
  const { notes } = trace;
  if (notes?.seq === seen.seq) return { ...trace, notes: { ...notes, what: joinFacts(notes.what, what) } };
  return { ...trace, notes: { seq: seen.seq, at: seen.at, what, earlier: notes } };
}

/** At most about 600 characters: a list of a thousand Events is one observation. */
function joinFacts(before: string, what: string): string {
  const facts = before.split(togetherWith);
  if (facts.includes(what) || facts.at(-1) === others) return before;
  return `${before}${togetherWith}${before.length + what.length > 600 ? others : what}`;
}

const others = 'others';

export const factOf = <T>(value: T, seen: Seen): Fact<T> => ({ value, seq: seen.seq, at: seen.at });

/** A copy of `map` with one entry set. */
export const withEntry = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> =>
  new Map(map).set(key, value);

export function withContainer(trace: Trace, name: string, change: (facts: ContainerFacts) => ContainerFacts): Trace {
  const facts = trace.containers.get(name) ?? noContainerFacts;
  const next = change(facts);
  return next === facts ? trace : { ...trace, containers: withEntry(trace.containers, name, next) };
}
