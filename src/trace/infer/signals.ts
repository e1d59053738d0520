/** Signals by name and number (Linux). The API tells a stop signal only where lifecycle.stopSignal is in use. */
const numbers: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGWINCH: 28,
  SIGPWR: 30,
  SIGRTMIN: 34,
  SIGRTMAX: 64,
};

/** `SIGTERM` for `TERM`, `SIGTERM` or `15`; undefined where the API told none. */
export function nameOfSignal(told: string | undefined): string | undefined {
  if (told === undefined || told === '') return undefined;
  if (/^\d+$/.test(told)) return Object.keys(numbers).find((name) => numbers[name] === Number(told)) ?? told;
  return told.startsWith('SIG') ? told : `SIG${told}`;
}

export function numberOfSignal(told: string | undefined): number | undefined {
  const name = nameOfSignal(told);
  return name === undefined ? undefined : numbers[name];
}
