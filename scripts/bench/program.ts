/** Programs under measurement, and how long they take. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const podexit = [process.execPath, fileURLToPath(new URL('../../bin/kubectl-podexit', import.meta.url))];

export const hasKubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).error === undefined;

/** Starts a program with an environment without anything of this machine's user. */
export function start(
  words: readonly string[],
  stdout: 'ignore' | 'pipe' = 'ignore',
  home = process.env['HOME'],
  stderr: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  const [command = '', ...rest] = words;
  return spawn(command, rest, {
    stdio: ['ignore', stdout, stderr],
    env: { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1' },
  });
}

export const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });

/** The time from start to exit, ms. */
export async function timed(words: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = start(words, 'pipe');
  child.stdout?.resume();
  await ended(child);
  return performance.now() - began;
}
