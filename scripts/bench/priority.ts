/** Whose turn it is on a machine of few processors, where that can be had (Linux, and its rights). */
import { spawnSync } from 'node:child_process';

/**
 * Lets this process run as soon as it has something to do, while `work` is under way: who times others must not stand in a
 * queue behind them. What it starts does not inherit that. Tells whether it could be had.
 */
export async function aheadOfOthers<T>(work: () => Promise<T>): Promise<{ result: T; isAhead: boolean }> {
  const isAhead = chrt(['--reset-on-fork', '--fifo', '--pid', '1', String(process.pid)]);
  try {
    return { result: await work(), isAhead };
  } finally {
    if (isAhead) chrt(['--other', '--pid', '0', String(process.pid)]);
  }
}

/** The words that start a command so that it runs only while nobody else wants to; none where nothing of the kind is there. */
export function behindOthers(): string[] {
  const words = [
    ['chrt', '--idle', '0'],
    ['nice', '-n', '19'],
  ];
  return (
    words.find(
      ([command = '', ...rest]) => spawnSync(command, [...rest, process.execPath, '--version']).status === 0,
    ) ?? []
  );
}

const chrt = (words: readonly string[]): boolean => spawnSync('chrt', words, { stdio: 'ignore' }).status === 0;
