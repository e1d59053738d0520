/** The numbers of signals on Linux (signal(7)). Pure. */
import data from './data/signals.json' with { type: 'json' };

const { aliases, names } = data;

const realTime = { MIN: 34, MAX: 64 };

/** The number of a signal that the API names: `SIGTERM`, `SIGRTMIN+3`. */
export function numberOfSignal(name = ''): number | undefined {
  const [, end, offset = '0'] = /^SIGRT(MIN|MAX)([+-]\d{1,2})?$/.exec(name) ?? [];
  const number = end === undefined ? 0 : realTime[end as keyof typeof realTime] + Number(offset);
  if (end !== undefined) return number >= realTime.MIN && number <= realTime.MAX ? number : undefined;
  const short = name.startsWith('SIG') ? name.slice(3) : '';
  const alias = new Map(Object.entries(aliases)).get(short);
  return alias ?? (names.includes(short) ? names.indexOf(short) + 1 : undefined);
}

/** The name of the signal that ends a process with this exit code: `SIGTERM` for 143. Undefined if there is none. */
export function signalOfExitCode(code: number): string | undefined {
  const name = names[code - 129];
  return name === undefined ? undefined : `SIG${name}`;
}
