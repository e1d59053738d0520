/** How long a preStop hook takes, where its definition says so: a sleep. Pure, over the raw pod. */
import type { Raw } from './watched.ts';
import { asRaw } from './watched.ts';

/** Seconds, by container. Hooks of any other kind take as long as they take, and are absent. */
export function hookSecondsOf(pod: Raw): Map<string, number> {
  const { containers, initContainers } = asRaw(pod['spec']);
  const all = [containers, initContainers].flatMap((list) => (Array.isArray(list) ? list.map(asRaw) : []));
  const known = all.flatMap((container) => {
    const seconds = secondsOf(asRaw(asRaw(container['lifecycle'])['preStop']));
    return seconds === undefined ? [] : [[String(container['name']), seconds] as const];
  });
  return new Map(known);
}

function secondsOf(handler: Raw): number | undefined {
  const { seconds } = asRaw(handler['sleep']);
  if (typeof seconds === 'number') return seconds;
  const { command } = asRaw(handler['exec']);
  const words = Array.isArray(command) ? command.filter((word) => typeof word === 'string') : [];
  const line = /(^|\/)(ba|da|a|z|k)?sh$/.test(words[0] ?? '') && words[1] === '-c' ? (words[2] ?? '') : words.join(' ');
  const [, count, unit = 's'] =
    /^\s*(?:exec\s+)?(?:\/(?:usr\/)?bin\/)?sleep\s+(\d+(?:\.\d+)?)([smh]?)\s*;?\s*$/.exec(line) ?? [];
  return count === undefined ? undefined : Number(count) * (units[unit || 's'] ?? 1);
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600 };
