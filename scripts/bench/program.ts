/** Programs under measurement, how long they take, and servers for them. */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const podexit = [process.execPath, fileURLToPath(new URL('../../bin/kubectl-podexit', import.meta.url))];

export const hasKubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).error === undefined;

/** Starts a program without the environment of this machine's user. */
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

/**
 * Starts a script of this folder that plays a cluster, and sends `server` as its first message. It runs in its own
 * process, because its work here would delay what is measured, and exits with this one.
 */
export async function startServer<T extends { namespace: string; kubeconfig: string }>(
  script: string,
  words: string[],
) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), words, { serialization: 'advanced' });
  const [server] = (await once(child, 'message')) as [T];
  const folder = mkdtempSync(join(tmpdir(), 'podexit-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig);
  return {
    child,
    server,
    /** `-n NAMESPACE --kubeconfig FILE` */
    flags: ['-n', server.namespace, '--kubeconfig', kubeconfig],
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
