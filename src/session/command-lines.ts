/** What a container that is started as `sh -c LINE` runs. Pure, over the raw pod: command lines go no further than a check. */
import type { Raw } from './watched.ts';
import { asRaw } from './watched.ts';

/** LINE, by container; only of use where PID 1 is such a shell (`shell` of kube.ts). */
export function commandLinesOf(pod: Raw): Map<string, string> {
  const { containers, initContainers } = asRaw(pod['spec']);
  const all = [containers, initContainers].flatMap((list) => (Array.isArray(list) ? list.map(asRaw) : []));
  return new Map(
    all.flatMap((container) => {
      const line = [...wordsOf(container['command']), ...wordsOf(container['args'])][2];
      return line === undefined ? [] : [[String(container['name']), line] as const];
    }),
  );
}

const wordsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((word): word is string => typeof word === 'string') : [];
