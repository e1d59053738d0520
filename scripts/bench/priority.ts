/** Whose turn it is on a machine of few processors, where that can be had (Linux, its tools and its rights). */
import { spawnSync } from 'node:child_process';

/** How a measurement is shielded from what it measures with. */
export interface Shield {
  /** This process runs as soon as it has something to do: who times others must not stand in a queue behind them. */
  isAhead: boolean;
  /** What stands before a command so that it may use all processors: this process and whatever else it starts keep to one. */
  everywhere: readonly string[];
}

export async function shielded<T>(work: (shield: Shield) => Promise<T>): Promise<T> {
  const own = String(process.pid);
  const isAhead = did(['chrt', '--reset-on-fork', '--fifo', '--pid', '1', own]);
  const all = affinity();
  const last = /\d+$/.exec(all ?? '')?.[0];
  const isPinned = last !== undefined && last !== all && did(['taskset', '--pid', '--cpu-list', last, own]);
  const everywhere = isPinned ? ['taskset', '--cpu-list', all ?? last] : [];
  try {
    return await work({ isAhead, everywhere });
  } finally {
    if (isAhead) did(['chrt', '--other', '--pid', '0', own]);
    if (isPinned) did(['taskset', '--pid', '--cpu-list', all ?? last, own]);
  }
}

/** The words that start a command so that it runs only while nobody else wants to; none where nothing of the kind is there. */
export function behindOthers(): string[] {
  const words = [
    ['chrt', '--idle', '0'],
    ['nice', '-n', '19'],
  ];
  return words.find((some) => did([...some, process.execPath, '--version'])) ?? [];
}

/** The processors that this process may use, as in `0-3`. */
const affinity = (): string | undefined =>
  /: (\S+)$/m.exec(
    spawnSync('taskset', ['--pid', '--cpu-list', String(process.pid)], { encoding: 'utf8' }).stdout ?? '',
  )?.[1];

const did = ([command = '', ...words]: readonly string[]): boolean =>
  spawnSync(command, words, { stdio: 'ignore' }).status === 0;
