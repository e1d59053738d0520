/** What a container that is started as `sh -c LINE` runs. Pure, over the raw pod: command lines go no further than a check. */
import { rawContainersOf, wordsOf } from './raw-containers.ts';
import type { Raw } from './watched.ts';

/** LINE, by container; only of use where PID 1 is such a shell (`shell` of kube.ts). */
export const commandLinesOf = (pod: Raw): Map<string, string> =>
  new Map(
    rawContainersOf(pod).flatMap((container) => {
      const line = [...wordsOf(container['command']), ...wordsOf(container['args'])][2];
      return line === undefined ? [] : [[String(container['name']), line] as const];
    }),
  );
