/** The containers of a raw pod: for what of their spec goes no further than a check. Pure. */
import type { Raw } from './watched.ts';
import { asRaw } from './watched.ts';

/** Main and init containers, sidecars among these. */
export function rawContainersOf(pod: Raw): Raw[] {
  const { containers, initContainers } = asRaw(pod['spec']);
  return [containers, initContainers].flatMap((list) => (Array.isArray(list) ? list.map(asRaw) : []));
}

/** A command or its arguments; what is no text is left out. */
export const wordsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((word): word is string => typeof word === 'string') : [];
