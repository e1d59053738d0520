/** How long a preStop hook takes, where its definition says so: a sleep. Pure, over the raw pod. */
import { plainSleep } from '../model/observe/pod.ts';
import { rawContainersOf, wordsOf } from './raw-containers.ts';
import type { Raw } from './watched.ts';
import { asRaw } from './watched.ts';

/** Seconds, by container. Hooks of any other kind take as long as they take, and are absent. */
export function hookSecondsOf(pod: Raw): Map<string, number> {
  const known = rawContainersOf(pod).flatMap((container) => {
    const seconds = secondsOf(asRaw(asRaw(container['lifecycle'])['preStop']));
    return seconds === undefined ? [] : [[String(container['name']), seconds] as const];
  });
  return new Map(known);
}

function secondsOf(handler: Raw): number | undefined {
  const { seconds } = asRaw(handler['sleep']);
  if (typeof seconds === 'number') return seconds;
  return plainSleep(wordsOf(asRaw(handler['exec'])['command']));
}
