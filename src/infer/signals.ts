/** Signals by name and number (Linux). The API names a stop signal only where lifecycle.stopSignal is in use. */
const named = [
  ...['HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'USR1', 'SEGV', 'USR2', 'PIPE', 'ALRM'],
  ...['TERM', 'STKFLT', 'CHLD', 'CONT', 'STOP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'XCPU', 'XFSZ', 'VTALRM', 'PROF'],
  ...['WINCH', 'IO', 'PWR', 'SYS'],
].map((name, index) => [`SIG${name}`, index + 1] as const);

const numbers = new Map<string, number>([...named, ['SIGIOT', 6], ['SIGCLD', 17], ['SIGPOLL', 29], ['SIGUNUSED', 31]]);

const realTime = { first: 34, last: 64 };

/** `SIGTERM` for `TERM`, `SIGTERM` or `15`; undefined where the API names none. */
export function nameOfSignal(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (/^\d+$/.test(given)) return nameOfNumber(Number(given)) ?? given;
  return given.startsWith('SIG') ? given : `SIG${given}`;
}

function nameOfNumber(number: number): string | undefined {
  if (number < realTime.first || number > realTime.last) return named.find(([, one]) => one === number)?.[0];
  return number === realTime.first ? 'SIGRTMIN' : `SIGRTMIN+${number - realTime.first}`;
}

export function numberOfSignal(given: string | undefined): number | undefined {
  const name = nameOfSignal(given);
  if (name === undefined) return undefined;
  const [, end, offset = '0'] = /^SIGRT(MIN|MAX)([+-]\d{1,2})?$/.exec(name) ?? [];
  if (end === undefined) return numbers.get(name);
  const number = (end === 'MIN' ? realTime.first : realTime.last) + Number(offset);
  return number >= realTime.first && number <= realTime.last ? number : undefined;
}
