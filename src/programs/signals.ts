/** The numbers of signals on Linux (signal(7)). Pure. */
import data from './data/signals.json' with { type: 'json' };

const numbers = new Map(Object.entries(data));
const names = new Map([...numbers].reverse().map(([name, number]) => [number, name]));
const firstRealTime = 34;

/** The number of a signal that the API names: `SIGTERM`, `SIGRTMIN+3`. */
export const numberOfSignal = (name = ''): number | undefined => numbers.get(name);

/** The name of the signal that ends a process with this exit code: `SIGTERM` for 143. Undefined if there is none. */
export const signalOfExitCode = (code: number): string | undefined =>
  code - 128 < firstRealTime ? names.get(code - 128) : undefined;
