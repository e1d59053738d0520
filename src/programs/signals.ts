/** The numbers of signals on Linux (signal(7)). Pure. */
import data from './data/signals.json' with { type: 'json' };

/** The number of a signal that the API names: `SIGTERM`, `SIGRTMIN+3`. */
export const numberOfSignal = (name = ''): number | undefined =>
  Object.entries(data).find(([one]) => one === name)?.[1];

/** The signal that ends a process with this exit code: `SIGTERM` for 143. Undefined if none, or from 34 on a real-time one. */
export const signalOfExitCode = (code: number): string | undefined =>
  code - 128 < 34 ? Object.entries(data).find(([, number]) => number === code - 128)?.[0] : undefined;
